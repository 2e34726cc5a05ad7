"""All contracts, and the class that bundles them."""

from __future__ import annotations

from manent.testing.conformance.adopting import AdoptContract
from manent.testing.conformance.appending import AppendContract, ChainContract, OrderContract
from manent.testing.conformance.attachments import BlobContract, DraftContract
from manent.testing.conformance.concurrency import ConcurrencyContract
from manent.testing.conformance.contract import Contract
from manent.testing.conformance.deleting import DeletionContract
from manent.testing.conformance.durability import DurabilityContract
from manent.testing.conformance.erasing import ErasureContract
from manent.testing.conformance.fences import WorkspaceFenceContract
from manent.testing.conformance.identities import IdentityContract
from manent.testing.conformance.likeness import AgreementContract
from manent.testing.conformance.linking import LinkContract, ResumeContract
from manent.testing.conformance.listing import ListingContract
from manent.testing.conformance.measuring import MeasureContract
from manent.testing.conformance.metadata import KeyContract, MetadataContract
from manent.testing.conformance.moving import MoveContract
from manent.testing.conformance.owning import OwnerContract
from manent.testing.conformance.paging import PagingContract
from manent.testing.conformance.processes import ProcessContract
from manent.testing.conformance.read_model import ReadModelContract
from manent.testing.conformance.texts import TextContract
from manent.testing.conformance.transactions import CloseContract, TransactionContract
from manent.testing.conformance.tree import OpenTurnContract, RefoldContract, TreeContract


class BackendConformance(
    AppendContract,
    ChainContract,
    OrderContract,
    AdoptContract,
    ReadModelContract,
    TreeContract,
    OpenTurnContract,
    RefoldContract,
    ListingContract,
    LinkContract,
    ResumeContract,
    MeasureContract,
    MetadataContract,
    KeyContract,
    OwnerContract,
    IdentityContract,
    WorkspaceFenceContract,
    PagingContract,
    TransactionContract,
    CloseContract,
    ErasureContract,
    DeletionContract,
    MoveContract,
    BlobContract,
    DraftContract,
    TextContract,
    ConcurrencyContract,
    ProcessContract,
    DurabilityContract,
    AgreementContract,
):
    """All of it: what a backend must do so that everything of manent works on it."""


CONTRACTS: tuple[type[Contract], ...] = tuple(
    base for base in BackendConformance.__bases__ if issubclass(base, Contract)
)
"""Every contract; each can be proved alone."""
