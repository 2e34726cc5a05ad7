"""The folder that a front end keeps for the plan of one session: it goes with its conversation."""

from __future__ import annotations

import logging
import shutil
from pathlib import Path, PurePath

from manent.errors import InputError
from manent.seeds.conversation_ids import is_conversation_id

PLAN_FOLDER = ".scratch/sessions"
"""Where, below a workspace, each session has a folder of its own."""

_log = logging.getLogger("manent")


def check_plan_folder(plan_folder: str | None) -> str | None:
    """
    Return the folder of all plans, relative to a workspace; None keeps none.

    Raises:
        InputError: it leads out of the workspace, or is the workspace itself.
    """
    if plan_folder is None:
        return None
    parts = PurePath(plan_folder).parts
    if not parts or PurePath(plan_folder).is_absolute() or ".." in parts or "\0" in plan_folder:
        raise InputError("plan_folder is a relative path below the workspace, without '..'.")
    return plan_folder


def remove_plan_folder(workspace: Path, plan_folder: str, id: str) -> bool:
    """
    Remove the plan folder of a session, and return whether it was there and is gone.

    What hinders it is logged and no error: the conversation is deleted already. Nothing outside the
    workspace is touched, links are not followed, and an id that is no plain name names no folder.
    """
    if not is_conversation_id(id):
        return False
    root = workspace.resolve()
    sessions = root / plan_folder
    try:
        if not sessions.resolve(strict=True).is_relative_to(root):
            _log.warning("The plan folder of %s leads out of its workspace and was left alone.", id)
            return False
        shutil.rmtree(sessions / id)
    except FileNotFoundError:  # most sessions have no plan
        return False
    except OSError as error:
        _log.warning("The plan folder of %s could not be removed: %s.", id, error.strerror or error)
        return False
    return True
