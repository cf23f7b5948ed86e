# %% [markdown] lang="en"
# # Lab 03. The homework's modules, beside PyTorch
#
# You will see
#
# * a loss that stays finite where its formula, taken literally, gives infinity, and a gradient that you can check by
#   hand;
# * how the shapes change inside multi-head attention, and an error message that nearly everybody meets;
# * that more heads cost nothing: the same parameters, the same arithmetic;
# * attention, feed-forward, Pre-LN and Post-LN layers and a whole language model, dropout included, that agree with
#   PyTorch in every output and every gradient to about 1e-15;
# * cross-attention, which this homework does without;
# * how many small operations a layer consists of, and which of them do the work.
#
# It belongs to lecture 6, sections 3, 7.2, 8.4, 9.1 and 9.2. It needs PyTorch and runs for about ten seconds.
#
# Letters in shapes: $B$ sequences in a batch, $S$ tokens in a sequence, $D$ features of a token, $h$ heads, $D_h = D/h$
# features of a head.

# %% [markdown] lang="zh"
# # 实验 03：作业里的模块，与 PyTorch 逐一对照
#
# 你会看到：
#
# * 一个损失函数：照公式直接算会得到无穷大，换一种算法就始终有限；它的梯度可以手算验证；
# * 多头注意力内部形状怎样一步步变化，以及一条几乎人人都会碰到的报错；
# * 多用几个头不花任何代价：参数一样多，运算一样多；
# * 注意力、前馈网络、Pre-LN 层和 Post-LN 层，直到整个语言模型（dropout 也开着），每个输出、每个梯度都与 PyTorch 一致，
#   误差在 1e-15 的量级；
# * 本次作业用不到的交叉注意力；
# * 一层由多少个小运算组成，真正干活的是哪几个。
#
# 对应第 6 讲第 3 节，以及 7.2、8.4、9.1、9.2 节。需要 PyTorch，运行约 10 秒。
#
# 形状里的字母：$B$ 是一批里的序列数，$S$ 是序列里的 token 数，$D$ 是每个 token 的特征数，$h$ 是头数，
# $D_h = D/h$ 是每个头的特征数。

# %%
import textwrap

import numpy as np
import torch

from assignment.framework import TensorBackend, randn, tensor, trace_shapes
from handouts.labs import figures, number_grid, torch_twins
from handouts.labs.beside_torch import compare
from handouts.labs.counting import matmul_flops, operations
from handouts.labs.course import modules_basic, nn, transformer
from handouts.labs.cross_attention import CrossAttention
from handouts.labs.gelu import tanh_gelu
from handouts.labs.loss_by_hand import loss_gradient, naive_logsumexp
from handouts.labs.post_ln import PostLNLayer
from handouts.labs.watching import attention_weights

BACKEND = TensorBackend(seed=0)  # float64, with a generator of its own
RNG = np.random.default_rng(0)

# %% [markdown] lang="en"
# ## 1. A loss for numbers of any size
#
# The cross-entropy of logits $z$ and the right class $y$ is
#
# $$-\log\frac{e^{z_y}}{\sum_c e^{z_c}} = \mathrm{logsumexp}(z) - z_y,
# \qquad \mathrm{logsumexp}(z) = \log\sum_c e^{z_c}.$$
#
# The largest float64 is about $e^{709.78}$. Whoever types the formula as it stands gets infinity as soon as one logit
# is larger. Taking out the largest entry $m$ first changes nothing in exact arithmetic, $\log\sum_c e^{z_c} = m +
# \log\sum_c e^{z_c - m}$, and leaves no exponent above 0.

# %% [markdown] lang="zh"
# ## 1. 数再大也不溢出的损失
#
# logits 为 $z$、正确类别为 $y$ 时，交叉熵是
#
# $$-\log\frac{e^{z_y}}{\sum_c e^{z_c}} = \mathrm{logsumexp}(z) - z_y,
# \qquad \mathrm{logsumexp}(z) = \log\sum_c e^{z_c}.$$
#
# float64 能表示的最大的数约为 $e^{709.78}$。照着公式直接写，只要有一个 logit 比它大，得到的就是无穷大。
# 先把最大的元素 $m$ 提出来，$\log\sum_c e^{z_c} = m + \log\sum_c e^{z_c - m}$，数学上没有任何变化，
# 指数却再也不会大于 0。

# %%
rows = []
for size in (1, 10, 100, 1000):
    z = tensor([[float(size), size - 1.0, size - 2.0]])  # (1, 3)
    with np.errstate(over="ignore"):  # the overflow is what we want to see
        naive = naive_logsumexp(z, 1).item()
    rows.append((size, f"{naive:.6f}", f"{nn.logsumexp(z, 1).item():.6f}"))
print(figures.table(("largest logit", "log(sum(exp))", "logsumexp"), rows))

assert rows[-1] == (1000, "inf", "1000.407606"), "for [1000, 999, 998]: inf by the formula, 1000.407606 in truth"

# %% [markdown] lang="en"
# The gradient needs no rule of its own: the framework finds it, and it is what one derives on paper, $\partial \ell /
# \partial z = \mathrm{softmax}(z) - \mathrm{onehot}(y)$. A step against it raises the right class by what it lacks to
# 1, and lowers every other class by its probability. The maximum $m$ counts as a constant in it. That is exact, because
# the result does not depend on $m$ at all.

# %% [markdown] lang="zh"
# 梯度不必专门推导：框架会算出来，
# 而且正是纸上推出的结果 $\partial \ell / \partial z = \mathrm{softmax}(z) - \mathrm{onehot}(y)$：沿它的反方向走一步，
# 正确类别离 1 还差多少，就抬高多少；其他类别的概率是多少，就压低多少。求导时最大值 $m$ 当作常数，这并不是近似，
# 因为结果根本不依赖 $m$。

# %%
logits = tensor([[1000.0, 999.0, 998.0], [2.0, 0.0, -1.0]], requires_grad=True)  # (2, 3)
labels = np.array([2, 0])
nn.softmax_loss(logits, tensor(labels)).sum().backward()
gradient = logits.grad.to_numpy()
print(figures.table(("class 0", "class 1", "class 2"), [[f"{value:.4f}" for value in row] for row in gradient]))

difference = np.abs(gradient - loss_gradient(logits.to_numpy(), labels)).max()
assert difference < 1e-12, "the gradient is softmax(z) - onehot(y)"
print("\ndifference from softmax(z) - onehot(y): below 1e-12")

# %% [markdown] lang="en"
# ## 2. Two forms of one function
#
# GELU in its tanh form is $\tfrac12 x\,(1 + \tanh u)$ with $u = \sqrt{2/\pi}\,(x + 0.044715\,x^3)$. Since $\tfrac12(1 +
# \tanh u) = 1/(1 + e^{-2u})$, it equals $x \cdot \mathrm{sigmoid}(2u)$: one operation less, and no tanh. In the same
# way $1/\sqrt{x} = e^{-\frac12 \log x}$ lets a framework without roots compute a layer norm.

# %% [markdown] lang="zh"
# ## 2. 同一个函数的两种写法
#
# GELU 的 tanh 形式是 $\tfrac12 x\,(1 + \tanh u)$，其中 $u = \sqrt{2/\pi}\,(x + 0.044715\,x^3)$。
# 因为 $\tfrac12(1 + \tanh u) = 1/(1 + e^{-2u})$，它就等于 $x \cdot \mathrm{sigmoid}(2u)$：少一次运算，也用不着 tanh。
# 同样，$1/\sqrt{x} = e^{-\frac12 \log x}$，没有开方运算的框架也能算 LayerNorm。

# %%
x = tensor(np.linspace(-6, 6, 1201))
by_tanh = tanh_gelu(x).to_numpy()
by_sigmoid = nn.GELU(x).to_numpy()
by_torch = torch.nn.functional.gelu(torch.from_numpy(x.to_numpy()), approximate="tanh").numpy()

assert np.abs(by_sigmoid - by_tanh).max() < 1e-14, "x sigmoid(2u) is 0.5 x (1 + tanh u)"
assert np.abs(by_sigmoid - by_torch).max() < 1e-14, "... and PyTorch's tanh form"
positive = tensor(np.linspace(0.01, 9, 900))
assert np.abs(((positive.log() * -0.5).exp() - positive**-0.5).to_numpy()).max() < 1e-13, "1/sqrt(x)"
print("x sigmoid(2u) from 0.5 x (1 + tanh u), and from PyTorch's GELU: below 1e-14")
print("exp(-log(x)/2) from 1/sqrt(x):                                  below 1e-13")

# %% [markdown] lang="en"
# ## 3. Dropout keeps the mean
#
# In training, dropout sets an entry to 0 with probability $p$ and multiplies the others by $1/(1-p)$. Fewer entries,
# each a little larger: the mean stays, so that the next layer sees numbers of the same size in training and in
# evaluation, where nothing is dropped. Of $n$ entries a share $1-p$ stays, give or take $\sqrt{p(1-p)/n}$.

# %% [markdown] lang="zh"
# ## 3. Dropout 不改变均值
#
# 训练时，dropout 以概率 $p$ 把一个元素置零，其余的乘以 $1/(1-p)$。元素少了，留下的各大了一点，均值不变；
# 所以不论训练还是评估（评估时什么都不丢），下一层看到的数大小都一样。$n$ 个元素里留下的比例是 $1-p$，
# 上下浮动约 $\sqrt{p(1-p)/n}$。

# %%
numbers = 100_000
dropout = modules_basic.Dropout(0.1)
dropped = dropout(tensor(np.ones(numbers), BACKEND)).to_numpy()
kept, mean, spread = (dropped != 0).mean(), dropped.mean(), (0.1 * 0.9 / numbers) ** 0.5
print(f"kept: {kept:.4f} of {numbers:,} ones (expected 0.9 +- {spread:.4f})")
print(f"mean: {mean:.4f} (expected 1); values: {np.unique(dropped).round(4)}")

assert abs(kept - 0.9) < 6 * spread, "the share that is kept"
assert abs(mean - 1) < 6 * spread / 0.9, "the mean"
dropout.eval()
x = randn((2, 3), BACKEND)
assert dropout(x) is x, "in evaluation the input comes back as it is"

# %% [markdown] lang="en"
# ## 4. How the shapes flow
#
# Several heads are not several modules. One projection makes $D$ features for all heads at once; `view` calls them $h$
# groups of $D_h$, `permute` puts the head before the position, and one product of stacked matrices then does the
# attention of all $B \times h$ heads. `trace_shapes` prints each operation as it happens, here for $B=2$, $S=5$,
# $D=12$, $h=3$.

# %% [markdown] lang="zh"
# ## 4. 形状怎样变化
#
# 多个头并不是多个模块。一次投影就算出所有头的 $D$ 个特征；`view` 把它们看成 $h$ 组、每组 $D_h$ 个，
# `permute` 把头换到位置前面，于是一次批量矩阵乘法就完成了全部 $B \times h$ 个头的注意力。
# `trace_shapes` 会把每个运算连同形状打印出来，这里 $B=2$、$S=5$、$D=12$、$h=3$。

# %%
B, S, D, h = 2, 5, 12, 3
attention = transformer.MultiHeadAttention(D, h, p_dropout=0.0, backend=BACKEND)
x = randn((B, S, D), BACKEND)
with trace_shapes():
    q, k_transposed, v = attention.project_to_query_key_value(x)
    joined = attention.self_attention(q, k_transposed, v)
    y = attention.out_projection(joined)

assert (q.shape, k_transposed.shape, v.shape) == ((2, 3, 5, 4), (2, 3, 4, 5), (2, 3, 5, 4)), "q, kT, v"
assert (joined.shape, y.shape) == ((2, 5, 12), (2, 5, 12)), "the heads side by side, and projected"

# %% [markdown] lang="en"
# In the middle of the list stand `(2, 3, 5, 5)` scores: for each of 2 sequences and 3 heads, 5 queries by 5 keys. Near
# the end, `Contiguous` copies. Without it, there is an error: `permute` only changes the strides, so neighbours in the
# new shape are no neighbours in memory any more, and no new shape can be laid over them.

# %% [markdown] lang="zh"
# 中间那些 `(2, 3, 5, 5)` 就是分数：2 个序列、3 个头，每个头里 5 个查询对 5 个键。
# 接近末尾的 `Contiguous` 做了一次真正的拷贝。少了它就会报错：`permute` 改的只是步长，
# 新形状里相邻的元素在内存里不再相邻，没法直接换一个形状去看。

# %%
heads = randn((B, h, S, D // h), BACKEND)  # such as the weighted means of the values: (B, h, S, Dh)
swapped = heads.permute(0, 2, 1, 3)  # (B, h, S, Dh) -> (B, S, h, Dh)
assert np.shares_memory(swapped.to_numpy(), heads.to_numpy()), "permute copies nothing"
try:
    swapped.view(B, S, D)  # (B, S, h, Dh) -> (B, S, D)
    raise AssertionError("view of a permuted tensor must not work")
except ValueError as error:
    print(textwrap.fill(f"ValueError: {error}", 78))
assert swapped.contiguous().view(B, S, D).shape == (2, 5, 12)  # (B, S, h, Dh) -> (B, S, D)

# %% [markdown] lang="en"
# A more dangerous mistake gives no error. `x.view(B, h, S, Dh)` has the right shape at once, without `permute`, but it
# cuts the memory in order: each "head" then holds whole tokens instead of some features of every token. Number the
# elements of two tokens with four features, and you see it.

# %% [markdown] lang="zh"
# 更危险的错误没有任何报错。直接写 `x.view(B, h, S, Dh)`，不用 `permute` 形状也对，但它只是把内存按顺序切开：
# 每个“头”里装的是整个 token，而不是每个 token 的一部分特征。取两个 token、每个 4 个特征，把元素编上号，就看得很清楚。

# %%
numbered = tensor(np.arange(8.0)).view(1, 2, 4)  # (B, S, D): features 0-3 of token 0, 4-7 of token 1
right = numbered.view(1, 2, 2, 2).permute(0, 2, 1, 3).to_numpy()  # (B, S, h, Dh) -> (B, h, S, Dh)
wrong = numbered.view(1, 2, 2, 2).to_numpy()  # has the shape (B, h, S, Dh), too
cells = ("head 0, token 0", "head 0, token 1", "head 1, token 0", "head 1, token 1")

fig, axes = figures.figure(height=2.4, columns=3)
number_grid.draw(axes[0], numbered.to_numpy()[0], numbered.to_numpy()[0] > 3, "x", ("token 0", "token 1"))
for axis, heads, title in ((axes[1], right, "view, then permute"), (axes[2], wrong, "view alone")):
    flat = heads.reshape(4, 2)  # (B, h, S, Dh) -> (h S, Dh)
    number_grid.draw(axis, flat, flat > 3, title, cells)
figures.show(fig)

assert right[0, 0].tolist() == [[0, 1], [4, 5]], "head 0 holds the first two features of both tokens"
assert wrong[0, 0].tolist() == [[0, 1], [2, 3]], "by view alone, head 0 holds all of token 0 and nothing of token 1"

# %% [markdown] lang="en"
# **Figure 1.** Blue: token 0; orange: token 1. In the middle each head has one row of each token, as it should. On the
# right both rows of head 0 are pieces of token 0, so this head never compares two tokens. With one head, or one token,
# the two ways agree: a test needs two of each.

# %% [markdown] lang="zh"
# **图 1** 蓝色是 token 0，橙色是 token 1。中间每个头里两个 token 各占一行，这是对的。
# 右边第 0 个头的两行都是 token 0 的碎片，这个头从来没有比较过两个 token。只有一个头或一个 token 时两种写法结果相同，
# 所以测试里两者都至少要有两个。

# %% [markdown] lang="en"
# ### More heads, the same cost
#
# The projections are $D \times D$ whatever $h$ is. The scores are $h$ products of $(S \times D_h)$ by $(D_h \times S)$,
# $2 h S^2 D_h = 2 S^2 D$ floating-point operations (a multiplication and an addition each): $h$ cancels. A whole layer
# takes $24\,S D^2 + 4\,S^2 D$ in its products of matrices for each sequence: $8\,S D^2$ in the four projections, $16\,S
# D^2$ in the feed-forward network, $4\,S^2 D$ in the attention itself.

# %% [markdown] lang="zh"
# ### 头多，代价不变
#
# 不管 $h$ 是多少，投影都是 $D \times D$。分数是 $h$ 个 $(S \times D_h)$ 乘 $(D_h \times S)$，
# 共 $2 h S^2 D_h = 2 S^2 D$ 次浮点运算（一次乘、一次加各算一次）：$h$ 约掉了。一整层的矩阵乘法，
# 每个序列要 $24\,S D^2 + 4\,S^2 D$ 次：四个投影 $8\,S D^2$，前馈网络 $16\,S D^2$，注意力本身 $4\,S^2 D$。

# %%
rows = []
x = randn((B, S, D), BACKEND)
for n_head in (1, 2, 3, 4, 6, 12):
    layer = transformer.TransformerLayer(D, n_head, p_dropout=0.0, backend=BACKEND)
    parameters = sum(parameter.value.size for parameter in layer.parameters())
    rows.append((n_head, D // n_head, parameters, matmul_flops(operations(lambda layer=layer: layer(x)))))
print(figures.table(("heads", "size of a head", "parameters", "FLOPs in matmuls"), rows))

assert {row[2] for row in rows} == {12 * D**2 + 13 * D}, "12 D^2 weights, 9 D biases and 4 D of the layer norms"
assert {row[3] for row in rows} == {B * (24 * S * D**2 + 4 * S**2 * D)}, "24 S D^2 + 4 S^2 D for each sequence"

# %% [markdown] lang="en"
# ## 5. Beside PyTorch
#
# `torch_twins.py` holds the same modules on PyTorch's own functions, with the same parameter names. A twin gets our
# parameters. It also gets our dropout masks: while our module runs, a hook on each `Dropout` notes which entries became
# 0, and the twin multiplies by the same mask, so that the two can be compared with dropout *on*. Then both go backward
# from the same random gradient. (A plain `sum()` would be a poor choice: the gradient of a sum of softmax or layer-norm
# outputs is 0, and 0 agrees with many mistakes.)

# %% [markdown] lang="zh"
# ## 5. 与 PyTorch 对照
#
# `torch_twins.py` 用 PyTorch 自己的函数写了同样的模块，参数名也相同。这个“双胞胎”直接拿走我们的参数，
# 连 dropout 掩码也一起拿走：我们的模块运行时，每个 `Dropout` 上挂的钩子记下哪些元素变成了 0，双胞胎乘上同一个掩码，
# 于是 dropout **开着**也能比较。然后两边从同一个随机梯度出发做反向传播。（直接对输出求和 `sum()` 不是好办法：
# 对 softmax 或 LayerNorm 的输出求和，梯度是 0，很多错误也给出 0，看不出差别。）

# %%
P, V, POSITIONS, LAYERS = 0.1, 20, 8, 2
x = RNG.standard_normal((B, S, D))
ids = RNG.integers(V, size=(B, S))
pairs = {
    "attention": (transformer.MultiHeadAttention(D, h, True, P, backend=BACKEND), torch_twins.Attention(D, h), x),
    "feed-forward": (transformer.FeedForward(D, p_dropout=P, backend=BACKEND), torch_twins.FeedForward(D), x),
    "Pre-LN layer": (transformer.TransformerLayer(D, h, P, backend=BACKEND), torch_twins.PreLNLayer(D, h), x),
    "Post-LN layer": (PostLNLayer(D, h, P, backend=BACKEND), torch_twins.PostLNLayer(D, h), x),
    "DecoderLM": (
        transformer.DecoderLM(V, D, h, POSITIONS, P, backend=BACKEND, n_layer=LAYERS),
        torch_twins.DecoderLM(V, D, h, POSITIONS, LAYERS),
        ids,
    ),
}

# %%
found = {name: compare(ours, twin, inputs, P, RNG) for name, (ours, twin, inputs) in pairs.items()}
rows = [(name, len(difference.gradients), "below 1e-14") for name, difference in found.items()]
print(figures.table(("module", "gradients compared", "largest difference"), rows))

assert all(difference.largest < 1e-14 for difference in found.values()), "outputs and all gradients agree with PyTorch"

# %% [markdown] lang="en"
# The last digits depend on the machine: its libraries add the same numbers in another order. Here they were

# %% [markdown] lang="zh"
# 最后几位与机器有关：不同的数学库按不同的顺序相加。这次运行得到的是

# %% tags=["volatile"]
for name, difference in found.items():
    print(f"{name:14} output {difference.output:.1e}   gradients {max(difference.gradients.values()):.1e}")
print(f"largest of all: {max(difference.largest for difference in found.values()):.1e}")

# %% tags=["volatile"]
fig, axis = figures.figure(height=2.5)
for row, difference in enumerate(found.values()):
    values = [max(value, 1e-17) for value in difference.gradients.values()]
    axis.plot(values, [row] * len(values), "o", color=figures.BLUE, alpha=0.5)
axis.axvline(2**-52, color=figures.GREY, linestyle="--")
axis.text(2**-52, -0.75, " rounding of 1.0 (2.2e-16)", color=figures.GREY, fontsize=9)
axis.set(xscale="log", xlim=(8e-18, 1e-13), xlabel="largest absolute difference from PyTorch's gradient")
axis.set_yticks(range(len(found)), list(found))
axis.set_ylim(len(found) - 0.5, -1.1)
axis.grid(axis="x")
figures.show(fig)

# %% [markdown] lang="en"
# **Figure 2.** One dot for the gradient of each parameter (and of the input). All lie within a few roundings. Not one
# backward pass of these modules was written by hand, and all are right. (A difference of 0 is drawn at 1e-17.)

# %% [markdown] lang="zh"
# **图 2** 每个参数（以及输入）的梯度是一个点，所有的点都只差几次舍入。这些模块的反向传播没有一行是手写的，却全都正确。
# （差为 0 的画在 1e-17 处。）

# %% [markdown] lang="en"
# ## 6. Cross-attention
#
# In an encoder-decoder model the target must look at the source, which went through another stack. So each decoder
# layer attends once more: the target asks with its queries, and the encoder's output makes the keys and values. The
# scores are no square: $T$ target positions by $S$ source positions. It needs no causal mask, since the source is
# complete before the first target word; it does need a padding mask, since the sources of a batch differ in length. A
# decoder-only model has no use for it: there the source is the beginning of the one sequence that causal self-attention
# reads.

# %% [markdown] lang="zh"
# ## 6. 交叉注意力
#
# 在编码器–解码器模型里，目标句要看源句，而源句走的是另一摞层。所以每个解码器层还要再做一次注意力：
# 目标句用自己的查询去问，键和值由编码器的输出来做。分数矩阵不是方的，而是 $T$ 个目标位置乘 $S$ 个源位置。
# 它不需要因果掩码，因为写第一个目标词之前源句已经完整；但需要补齐掩码，因为一批源句长短不一。
# decoder-only 模型用不着它：源句就是序列的开头，因果自注意力一并读了。

# %%
T, S = 4, 6
cross = CrossAttention(D, h, backend=BACKEND)
target, source = randn((B, T, D), BACKEND), randn((B, S, D), BACKEND)
padding = tensor([[0, 0, 0, 0, 0, 0], [0, 0, 0, 0, 1, 1]], BACKEND)  # (B, S): the second source has four tokens
out = cross(target, source, padding)
weights = cross.weights.to_numpy()
print(f"target {target.shape}, source {source.shape}: weights {weights.shape}, output {out.shape}")

assert (weights.shape, out.shape) == ((2, 3, 4, 6), (2, 4, 12)), "(B, h, T, S) and (B, T, D)"
assert (weights[1, :, :, 4:] == 0).all(), "no query looks at padding"
assert (weights[0] > 0).all(), "without padding every target position sees the whole source, the future included"
changed = tensor(np.where(padding.to_numpy()[:, :, None] == 1, 99.0, source.to_numpy()), BACKEND)  # (B, S, D)
assert (cross(target, changed, padding).to_numpy() == out.to_numpy()).all(), "what stands at padding does not matter"

# %%
attention = transformer.MultiHeadAttention(D, h, p_dropout=0.0, backend=BACKEND)
self_weights = attention_weights(attention, target)

fig, axes = figures.figure(height=2.8, columns=2)
for axis, matrix, title, keys in (
    (axes[0], self_weights[1, 0], "causal self-attention, (T, T)", "target position (key)"),
    (axes[1], weights[1, 0], "cross-attention, (T, S)", "source position (key)"),
):
    image = axis.imshow(np.where(matrix == 0, np.nan, matrix), vmin=0, vmax=1)
    for row, column in np.argwhere(matrix == 0):
        axis.text(column, row, "0", ha="center", va="center", color=figures.GREY)
    axis.set(title=title, xlabel=keys, ylabel="target position (query)")
    axis.set(xticks=range(matrix.shape[1]), yticks=range(matrix.shape[0]))
fig.colorbar(image, ax=axes, label="attention weight")
figures.show(fig)

# %% [markdown] lang="en"
# **Figure 3.** One head, second sequence. White cells are exactly 0. On the left a triangle is missing: a position does
# not see later ones. On the right two columns are missing, the padding of the source; all other cells are there, for
# every query.

# %% [markdown] lang="zh"
# **图 3** 第二个序列的一个头，白色格子恰好是 0。左图缺一个三角：每个位置都看不到后面的位置。右图缺两列，是源句的补齐；
# 其余的格子每个查询都有。

# %% [markdown] lang="en"
# ## 7. Counting small operations
#
# On a GPU each operation of the framework would be a kernel to launch, which reads its inputs from memory and writes
# its result back. `view` and `permute` are the exception: they change shape and strides, and touch no number. We count
# the others, in evaluation. (In training, each of a layer's two dropouts adds two products: the scaled mask, and its
# use. How many there are depends on how finely a framework is cut: the lecture's own counts 68 for a layer.)

# %% [markdown] lang="zh"
# ## 7. 数一数小运算
#
# 在 GPU 上，框架的每个运算都要启动一次内核，从显存读输入，再把结果写回去。`view` 和 `permute` 例外：
# 它们只改形状和步长，一个数也不碰。下面数的是其余的运算，在评估模式下。（训练时，一层里的两个 dropout 各多出两次乘法：
# 给掩码乘系数，再用掩码乘。具体的个数取决于框架把运算切得多细：讲义的框架数出来一层是 68 个。）

# %%
LARGE = (1, 128, 256)  # B, S, D
x = randn(LARGE, BACKEND)
measured = {
    "Linear": modules_basic.Linear(256, 256, backend=BACKEND),
    "GELU": nn.GELU,
    "LayerNorm1d": modules_basic.LayerNorm1d(256, backend=BACKEND),
    "attention": transformer.MultiHeadAttention(256, 4, p_dropout=0.0, backend=BACKEND),
    "feed-forward": transformer.FeedForward(256, p_dropout=0.0, backend=BACKEND),
    "Pre-LN layer": transformer.TransformerLayer(256, 4, p_dropout=0.0, backend=BACKEND),
}
counted = {name: operations(lambda module=module: module(x)) for name, module in measured.items()}
KINDS = ("matmul", "elementwise", "reduction", "copy", "shape only")
rows = [
    (name, sum(one.touches_elements for one in done), *(sum(one.kind == kind for one in done) for kind in KINDS))
    for name, done in counted.items()
]
print(figures.table(("module", "operations", "matmul", "elementwise", "reduction", "copy", "(shape only)"), rows))

_, launches, matmuls, *_ = rows[-1]
assert (launches, matmuls) == (60, 8), "a Pre-LN layer: 60 operations forward, 8 of them products of matrices"
training = transformer.TransformerLayer(256, 4, p_dropout=0.1, backend=BACKEND)
in_training = sum(one.touches_elements for one in operations(lambda: training(x)))
assert in_training == 64, "with dropout: four more, within the 68 that the lecture counts"
print(f"\na Pre-LN layer in training, with dropout: {in_training}")

# %%
layer = counted["Pre-LN layer"]
shares = []
for kind in KINDS[:4]:
    those = [one for one in layer if one.kind == kind]
    counts = (len(those), sum(one.flops for one in those), sum(one.moved for one in those))
    totals = (launches, sum(one.flops for one in layer), sum(one.moved for one in layer))
    shares.append([100 * count / total for count, total in zip(counts, totals, strict=True)])

fig, axis = figures.figure(height=2.2)
left = np.zeros(3)
for kind, share, colour in zip(
    KINDS, shares, (figures.BLUE, figures.ORANGE, figures.GREEN, figures.GREY), strict=False
):
    axis.barh(("operations", "FLOPs", "numbers moved"), share, left=left, color=colour, label=kind)
    left += share
axis.set(xlabel="share of a Pre-LN layer's forward pass (%)", xlim=(0, 100))
axis.invert_yaxis()
axis.legend(ncols=4, loc="lower center", bbox_to_anchor=(0.5, 1))
figures.show(fig)
print("the 8 matmuls: {:.0f} % of the operations, {:.0f} % of the FLOPs, {:.0f} % of what moves".format(*shares[0]))

# %% [markdown] lang="en"
# **Figure 4.** A Pre-LN layer at $B=1$, $S=128$, $D=256$, $h=4$. Its 8 products of matrices do nearly all the
# arithmetic, yet three quarters of the numbers that go from and to memory belong to the 52 other operations. A GPU
# computes far faster than it reads, so it pays to join those 52 into fewer kernels (lectures 10 and 11).

# %% [markdown] lang="zh"
# **图 4** $B=1$、$S=128$、$D=256$、$h=4$ 的一个 Pre-LN 层。8 次矩阵乘法完成了几乎全部计算，
# 可是进出显存的数有四分之三属于另外 52 个运算。GPU 算得远比读得快，所以把这 52 个合并成较少的内核很划算
# （第 10、11 讲）。

# %% [markdown] lang="en"
# ## To think about
#
# 1. Why is the gradient of `softmax(x).sum()` zero, and which mistakes in an attention would a test with `sum()` miss?
# 2. A friend's attention agrees with PyTorch for one head and not for two. Where do you look first? And if it agrees
#    for every number of heads, but only when the sequence has one token?
# 3. In figure 4, how do the shares of FLOPs and of numbers moved change when $S$ is a hundred times larger?
#
# ## To read
#
# * Vaswani et al. (2017), *Attention Is All You Need*, sections 3.2 and 3.3.
# * Xiong et al. (2020), *On Layer Normalization in the Transformer Architecture*, figure 1.
# * Hendrycks & Gimpel (2016), *Gaussian Error Linear Units*.

# %% [markdown] lang="zh"
# ## 想一想
#
# 1. `softmax(x).sum()` 的梯度为什么是零？用 `sum()` 写的测试，会漏掉注意力里的哪些错误？
# 2. 同学写的注意力，一个头时与 PyTorch 一致，两个头时不一致，先查哪里？如果不管几个头都一致，
#    但只限于序列只有一个 token 的时候呢？
# 3. 图 4 中，$S$ 变成一百倍，FLOPs 和搬运量的占比会怎样变？
#
# ## 延伸阅读
#
# * Vaswani et al. (2017), *Attention Is All You Need*：第 3.2、3.3 节。
# * Xiong et al. (2020), *On Layer Normalization in the Transformer Architecture*：图 1。
# * Hendrycks & Gimpel (2016), *Gaussian Error Linear Units*。
