"""Plans, roadmaps, and the blocks in which a model is shown them, under their public names."""

from manent.history.blocks import plan_get, render_plan, render_state
from manent.model.metadata import RoadmapLink
from manent.model.plans import (
    Aggregation,
    CaveatPolicy,
    Plan,
    PlanSnapshot,
    Roadmap,
    RoadmapSummary,
    Step,
    StepStatus,
    Subtask,
    SubtaskStatus,
)

__all__ = [
    "Aggregation",
    "CaveatPolicy",
    "Plan",
    "PlanSnapshot",
    "Roadmap",
    "RoadmapLink",
    "RoadmapSummary",
    "Step",
    "StepStatus",
    "Subtask",
    "SubtaskStatus",
    "plan_get",
    "render_plan",
    "render_state",
]
