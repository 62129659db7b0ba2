"""Every cause, by the label that it is of: those with a module, and a plain LineCause of any other label."""

from collections.abc import Mapping

from stepscope.instruments.causes.cause import Cause, LineCause
from stepscope.instruments.causes.communication import CommunicationCause
from stepscope.instruments.causes.compile import CompileCause
from stepscope.instruments.causes.compute import BalancedCause, ComputeCause
from stepscope.instruments.causes.copy import CopyCause
from stepscope.instruments.causes.dispatch import DispatchCause
from stepscope.instruments.causes.idle import IdleCause
from stepscope.instruments.causes.input import InputCause
from stepscope.instruments.causes.label_shares import CauseName
from stepscope.instruments.causes.python import PythonCause
from stepscope.instruments.causes.setup import SetupCause
from stepscope.instruments.causes.unknown import UnknownCause
from stepscope.instruments.causes.wait import WaitCause
from stepscope.step_labels import LABELS

COMPUTE, DISPATCH, UNKNOWN = ComputeCause(), DispatchCause(), UnknownCause()
CAUSES: Mapping[CauseName, Cause] = {
    cause.name: cause
    for cause in (
        *map(LineCause, LABELS),
        InputCause(),
        CompileCause(),
        COMPUTE,
        BalancedCause(),
        CommunicationCause(),
        CopyCause(),
        DISPATCH,
        SetupCause(),
        PythonCause(),
        WaitCause(),
        IdleCause(),
        UNKNOWN,
    )
}
