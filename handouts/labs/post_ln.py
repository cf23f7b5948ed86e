"""The block of the 2017 paper, with its layer norms after the sums: what `TransformerLayer` is compared with."""

from __future__ import annotations

from assignment.framework import Tensor
from handouts.labs.course import transformer


class PostLNLayer(transformer.TransformerLayer):
    """A Post-LN block: x = ln_1(x + attention(x)), then x = ln_2(x + ff(x)).

    It has the parameters of a `TransformerLayer`, under the same names, and takes the same arguments; only the place of
    the norms differs. Here every sum passes through a norm, so no path leads from the output to the input without one.

    Shapes: x (B, S, D) -> (B, S, D).

    Source: Vaswani et al. (2017), section 3.1; Xiong et al. (2020), figure 1(a); lecture 6, section 5.4.
    """

    def forward(self, x: Tensor, pad_mask: Tensor | None = None) -> Tensor:
        """Run the block.

        Args:
            x: (B, S, D).
            pad_mask: (B, S), 1 at positions that no query may see; None: no such position.

        Returns:
            (B, S, D), normalised: where ln_2 has weights 1 and bias 0, each vector has mean 0 and variance 1.
        """
        middle = self.ln_1(x + self.attention(x, pad_mask))
        out: Tensor = self.ln_2(middle + self.ff(middle))
        return out
