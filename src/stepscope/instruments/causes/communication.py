"""Communication that no compute hides."""

from stepscope.instruments.causes.call_paths import innermost_call
from stepscope.instruments.causes.cause import LineCause
from stepscope.instruments.causes.explanation import Explanation
from stepscope.instruments.causes.host_steps import HostSteps


class CommunicationCause(LineCause):
    """Communication."""

    name = "communication"
    takes_along = False

    def sampled_line(self, host: HostSteps, share: float) -> Explanation:
        """The line that waits for other processes, if ops run within the program's calls; with a device, a
        line only launches. Stacks alone do not show whom it waits for."""
        if not host.runs_inline:
            return Explanation()
        place, called_from = innermost_call(host.stacks.times(self.name)[0])
        return Explanation(place=place, called_from=called_from)

    def traced_line(self, host: HostSteps) -> Explanation:
        """The launching line says nothing about it."""
        return Explanation()
