# %% [markdown] lang="en"
# # Lab 06. What a Transformer costs
#
# Three numbers for the back of an envelope: parameters, floating-point operations (FLOPs) for a token, and the memory
# that training needs for activations. You will see
#
# - formulas for all three, each equal to what is counted in real modules;
# - where GPT-2 small's 124 million parameters and its 285 million FLOPs a token go;
# - from which length on attention's $n^2$ takes more FLOPs than the rest, and why memory feels it long before.
#
# It belongs to lecture 6, sections 6.2 and 8, and runs in about 20 seconds. It builds GPT-2 small once, which takes
# 1 GB of memory. Cells that begin with `# torch` need PyTorch; without it, leave them out.

# %% [markdown] lang="zh"
# # 实验 06：Transformer 要花多少
#
# 三个用“信封背面计算”就能得到的数：参数量、每个 token 的浮点运算次数（FLOPs）、训练时激活值占的显存。本实验要看的是：
#
# - 三个数的公式，每一个都和真实模块里数出来的相等；
# - GPT-2 small 的 1.24 亿个参数、每 token 2.85 亿次浮点运算花在哪里；
# - 从什么长度开始注意力的 $n^2$ 项比其余部分更费运算，为什么显存早就先感觉到它。
#
# 对应第 6 讲第 6.2 节和第 8 节，大约跑 20 秒；其中会真的建一次 GPT-2 small，要用 1 GB 内存。
# 以 `# torch` 开头的单元格需要 PyTorch；没有装的话跳过它们。

# %%
import numpy as np

from assignment.framework import TensorBackend, randn, tensor
from handouts.labs import activations, decoder_only, encoder_decoder, figures, parameters
from handouts.labs.counting import matmul_flops, operations
from handouts.labs.course import transformer
from handouts.labs.decoder_only import GPT2_SMALL, Decoder
from handouts.labs.kept_by_framework import kept_numbers
from handouts.labs.stopwatch import shortest

# %% [markdown] lang="en"
# ## 1. Parameters
#
# A layer of width $d$ holds four projections $d \to d$ (attention: $4d^2 + 4d$), the maps $d \to 4d$ and $4d \to d$
# (feed-forward: $8d^2 + 5d$), and two layer norms ($4d$): about $12d^2$ in all, two thirds of it in the feed-forward
# network.

# %% [markdown] lang="zh"
# ## 1. 参数量
#
# 宽度为 $d$ 的一层里，注意力有四个 $d \to d$ 的投影（$4d^2 + 4d$），
# 前馈有 $d \to 4d$ 和 $4d \to d$ 两层（$8d^2 + 5d$），还有两个 LayerNorm（$4d$）：
# 合计约 $12d^2$，其中三分之二在前馈里。

# %%
backend = TensorBackend(dtype="float32", seed=0)
layer = transformer.TransformerLayer(1024, 16, backend=backend)
by_formula = [parameters.attention(1024), parameters.feed_forward(1024, 4096), 2 * parameters.layer_norm(1024)]
by_module = [parameters.counted(layer.attention), parameters.counted(layer.ff)]
by_module.append(parameters.counted(layer.ln_1) + parameters.counted(layer.ln_2))
rows = [
    (name, f"{formula:,}", f"{module:,}", f"{formula / sum(by_formula):.1%}")
    for name, formula, module in zip(["attention", "feed-forward", "layer norms"], by_formula, by_module, strict=True)
]
rows.append(("one layer", f"{sum(by_formula):,}", f"{parameters.counted(layer):,}", ""))
print(figures.table(["d = 1024", "by the formula", "in the module", "share"], rows))

assert by_formula == by_module, "the formulas count what the modules hold"
assert parameters.block(1024, 4096) == parameters.counted(layer) == 12_596_224, "a layer of width 1024"
assert round(by_formula[1] / 12_596_224, 3) == 0.666, "two thirds are in the feed-forward network"

# %% [markdown] lang="en"
# Now a whole model, GPT-2 small: $d = 768$, 12 layers, 50,257 tokens, 1024 positions. Its output layer is the token
# embedding once more. Our `DecoderLM` has an `lm_head` of its own instead, so to count as GPT-2 does we leave `lm_head`
# out.

# %% [markdown] lang="zh"
# 再看整个模型 GPT-2 small：$d = 768$，12 层，词表 50,257，1024 个位置。它的输出层就是 token 嵌入表本身；
# 而我们的 `DecoderLM` 另有一个 `lm_head`，所以要按 GPT-2 的口径数，就不数 `lm_head`。

# %%
gpt2 = transformer.DecoderLM(50_257, 768, 12, 1024, backend=backend, n_layer=12)
parts = decoder_only.parameters_by_part(GPT2_SMALL)
N = sum(parts.values())
rows = [(name, f"{number:,}", f"{number / N:.1%}") for name, number in parts.items()]
rows.append(("all, by the formula", f"{N:,}", ""))
rows.append(("in the modules, without lm_head", f"{parameters.counted(gpt2, without='lm_head'):,}", ""))
rows.append(("lm_head", f"{parameters.counted(gpt2.lm_head):,}", ""))
print(figures.table(["GPT-2 small", "parameters", "share"], rows))

assert N == parameters.counted(gpt2, without="lm_head") == 124_439_808, "the number of parameters of GPT-2 small"
del gpt2, layer  # 0.7 GB

# %% [markdown] lang="en"
# ## 2. FLOPs for a token
#
# A product $(p, q) \times (q, r)$ takes $2pqr$ FLOPs. So a weight matrix of $m$ numbers takes $2m$ for each token:
# $24d^2$ a layer. Beside that, each token is compared with $n$ keys and mixes $n$ values, $2nd + 2nd$. With $L$ layers
# and the output layer:
#
# $$\text{FLOPs a token} = L\,(24d^2 + 4nd) + 2dV.$$
#
# Only matrix products are counted, and all $n$ keys, since a causal mask hides scores that have been computed.

# %% [markdown] lang="zh"
# ## 2. 每个 token 的 FLOPs
#
# 矩阵乘法 $(p, q) \times (q, r)$ 要 $2pqr$ 次浮点运算。所以一个有 $m$ 个数的权重矩阵对每个 token 要 $2m$ 次，
# 每层合计 $24d^2$。此外每个 token 要和 $n$ 个键做点积、把 $n$ 个值加权求和，即 $2nd + 2nd$。共 $L$ 层，再加输出层：
#
# $$\text{每 token 的 FLOPs} = L\,(24d^2 + 4nd) + 2dV.$$
#
# 只数矩阵乘法；$n$ 个键全部算在内，因为因果掩码遮住的分数也是先算出来的。

# %%
flops = decoder_only.flops_by_part(GPT2_SMALL, length=1024)
F = sum(flops.values())
rows = [(name, f"{number / 1e6:.1f}", f"{number / F:.1%}") for name, number in flops.items()]
rows.append(("all", f"{F / 1e6:.1f}", ""))
print(figures.table(["GPT-2 small, n = 1024", "MFLOPs a token", "share"], rows))

assert F == 284_812_800, "284.8 MFLOPs a token"
shares = {name: round(100 * number / F, 1) for name, number in flops.items()}
assert shares["feed-forward"] == 39.8, "the feed-forward network takes 39.8%"
assert shares["output layer"] == 27.1, "the output layer takes 27.1%"
assert shares["q, k, v projections"] == 14.9, "the three projections take 14.9%"
assert shares["attention core"] == 13.3, "q kT and weights v take 13.3%"

# %% [markdown] lang="en"
# Is the formula right? PyTorch has a counter that looks at every operation. It needs shapes only, so the model can
# stand on the device `meta`, where tensors have no elements and nothing is computed.

# %% [markdown] lang="zh"
# 公式对不对？PyTorch 自带一个计数器，能看到每一次运算。它只需要形状，所以模型可以放在 `meta` 设备上：
# 那里的张量没有元素，什么也不用真的算。

# %%
# torch
import torch
from torch.utils.flop_counter import FlopCounterMode

from handouts.labs.torch_decoder import Block, TorchDecoder

with torch.device("meta"):
    twin = TorchDecoder(GPT2_SMALL, heads=12)
    with FlopCounterMode(display=False) as counter:
        twin(torch.zeros(1, 1024, dtype=torch.long))
print(f"PyTorch's counter: {counter.get_total_flops():,} FLOPs for 1024 tokens; the formula: {1024 * F:,}")
assert counter.get_total_flops() == 1024 * F, "the formula is PyTorch's count"

# %% [markdown] lang="en"
# The framework of this homework calls an observer at each operation. It really computes, so a smaller model must do:

# %% [markdown] lang="zh"
# 本次作业的框架在每次运算时会通知一个观察者。它要真的算，所以换一个小模型：

# %%
small = Decoder(vocab=300, dim=64, layers=2, positions=128)
ours = transformer.DecoderLM(300, 64, 4, 128, p_dropout=0.0, backend=backend, n_layer=2)
done = operations(lambda: ours(tensor(np.zeros((1, 128)), backend)))
counted, products = matmul_flops(done), sum(one.kind == "matmul" for one in done)
by_formula = 128 * sum(decoder_only.flops_by_part(small, length=128).values())
print(f"our DecoderLM: {counted:,} FLOPs in {products} products; the formula: {by_formula:,}")
assert counted == by_formula, "the formula is our framework's count"

# %% [markdown] lang="en"
# **$2N$.** A token uses each weight once, for a multiplication and an addition. Hence the rule of thumb "forward $2N$,
# backward twice that, together $6N$ a token", with $N$ parameters:

# %% [markdown] lang="zh"
# **$2N$** 一个 token 经过模型，每个权重都用上一次：一乘一加。经验法则“前向 $2N$，反向加倍，合计每 token $6N$”
# 就是这样来的，其中 $N$ 是参数量：

# %%
core = flops["attention core"]
biases = 12 * (4 * 768 + 5 * 768)
in_no_product = parts["position embedding"] + parts["layer norms"] + biases
rows = [
    ("2N", f"{2 * N / 1e6:.1f}"),
    ("- 2 x positions, biases and norms, which are in no product", f"-{2 * in_no_product / 1e6:.1f}"),
    ("+ attention core, which has no weights", f"+{core / 1e6:.1f}"),
    ("all", f"{F / 1e6:.1f}"),
]
print(figures.table(["GPT-2 small, n = 1024", "MFLOPs a token"], rows))
assert 2 * N - 2 * in_no_product + core == F, "this is all of the difference"
assert round(2 * N / 1e6, 1) == 248.9, "2N is 248.9 M"

# %%
kinds = {
    "feed-forward": ("feed-forward", ["feed-forward"], figures.BLUE),
    "projections": ("attention", ["q, k, v projections", "out projection"], figures.GREEN),
    "attention core": (None, ["attention core"], figures.RED),
    "embedding / output layer": ("token embedding", ["output layer"], figures.ORANGE),
}
fig, axes = figures.figure(height=2.4)
ends = [0.0, 0.0]
for label, (parameter, flop, colour) in kinds.items():
    widths = [100 * parts[parameter] / N if parameter else 0.0, 100 * sum(flops[name] for name in flop) / F]
    axes.barh(["parameters", "FLOPs a token"], widths, left=ends, height=0.6, color=colour, label=label)
    ink = "black" if colour == figures.ORANGE else "white"
    for row, width in enumerate(widths):
        if width:
            axes.text(ends[row] + width / 2, row, f"{width:.0f}%", ha="center", va="center", color=ink)
    ends = [end + width for end, width in zip(ends, widths, strict=True)]
axes.set(xlim=(0, 100), xlabel="share, %")
axes.invert_yaxis()
fig.legend(*axes.get_legend_handles_labels(), loc="outside upper center", ncols=4)
figures.show(fig)

# %% [markdown] lang="en"
# **Figure 1.** Where GPT-2 small's parameters are, and where its FLOPs go at $n = 1024$. The attention core has no
# parameter at all. (Positions and layer norms, 0.7% of the parameters, are the gap at the right.)

# %% [markdown] lang="zh"
# **图 1** GPT-2 small 的参数在哪里，$n = 1024$ 时 FLOPs 花在哪里。注意力的核心部分一个参数也没有。
# （右端的空隙是位置表和 LayerNorm，占参数的 0.7%。）

# %% [markdown] lang="en"
# ## 3. The $n^2$ of attention
#
# In a layer the core takes $4nd$ and everything else $24d^2$ for a token, so its share is $n / (6d + n)$: one half at
# $n = 6d$. (LLaMA's feed-forward network has three matrices of width 11,008, which is 2.7 $d$, instead of two of
# width $4d$: the same FLOPs within 1%.)

# %% [markdown] lang="zh"
# ## 3. 注意力的 $n^2$
#
# 一层里，每个 token 的注意力核心要 $4nd$，其余要 $24d^2$，所以核心的占比是 $n / (6d + n)$：$n = 6d$ 时正好一半。
# （LLaMA 的前馈有三个矩阵，宽 11,008，即 2.7 $d$，而不是两个宽 $4d$ 的矩阵；两者的 FLOPs 相差不到 1%。）

# %%
LLAMA_DIM = 4096  # of LLaMA-7B
rows = [(f"{n:,}", f"{decoder_only.attention_share(LLAMA_DIM, n):.1%}") for n in (2048, 32_768, 131_072)]
print(figures.table(["LLaMA-7B, n", "attention core, of a layer's FLOPs"], rows))
assert [share for _, share in rows] == ["7.7%", "57.1%", "84.2%"], "attention's shares in LLaMA-7B"

print(f"one half at n = {decoder_only.crossing(768)} (GPT-2 small) and n = {decoder_only.crossing(4096)} (LLaMA-7B)")
assert decoder_only.crossing(768) == 4608, "6 x 768"
assert decoder_only.crossing(4096) == 24_576, "6 x 4096"

# %%
n = 2 ** np.arange(8, 18)
fig, axes = figures.figure(height=3.0)
axes.axhline(50, color=figures.GREY, linewidth=0.8, linestyle=":")
for name, dim, colour, side in (("GPT-2 small", 768, figures.BLUE, "right"), ("LLaMA-7B", 4096, figures.RED, "left")):
    axes.plot(n, [100 * decoder_only.attention_share(dim, int(length)) for length in n], color=colour)
    half = decoder_only.crossing(dim)
    axes.plot(half, 50, "o", color=colour)
    away = (-10, 5) if side == "right" else (10, -27)  # of a text that ends, or begins, there
    text = f"{name}\nn = 6d = {half:,}"
    axes.annotate(text, (half, 50), xytext=away, textcoords="offset points", ha=side, color=colour)
axes.set(xscale="log", ylim=(0, 100), xlabel="n, tokens", ylabel="attention core,\n% of a layer's FLOPs")
axes.set_xticks(n, [f"{length:,}" if length < 1024 else f"{length // 1024}k" for length in n])
axes.minorticks_off()
figures.show(fig)

# %% [markdown] lang="en"
# **Figure 2.** The wider the model, the later attention's FLOPs matter. With a few thousand tokens, LLaMA-7B spends
# most of its FLOPs in the projections and the feed-forward network.

# %% [markdown] lang="zh"
# **图 2** 模型越宽，注意力的 FLOPs 越晚才变得重要。上下文只有几千个 token 时，LLaMA-7B 的 FLOPs
# 主要花在投影和前馈上。

# %% [markdown] lang="en"
# ## 4. Activations
#
# For its backward pass a layer keeps what the gradients need: a product keeps both factors, softmax keeps its result.
# PyTorch shows each tensor that is saved to a pair of hooks. Here they count, for one Pre-LN layer with $d = 64$ and
# $h = 4$ heads; then two numbers are fitted, $\text{saved} = a\,S d + c\,h S^2$.

# %% [markdown] lang="zh"
# ## 4. 激活值
#
# 为了反向传播，一层要保存梯度用得到的东西：矩阵乘法保存两个因子，softmax 保存它的结果。
# PyTorch 会把每个要保存的张量交给一对钩子。这里用钩子来数一个 Pre-LN 层（$d = 64$，$h = 4$ 个头）保存了多少个数，
# 再拟合出两个系数：$\text{保存量} = a\,S d + c\,h S^2$。

# %%
# torch
from handouts.labs.saved_tensors import saved_numbers

lengths = [32, 64, 128, 256, 512]
block = Block(64, heads=4)
saved = [saved_numbers(block, torch.zeros(1, S, 64, requires_grad=True)) for S in lengths]
fit = activations.fit(lengths, saved, dim=64, heads=4)
rows = [
    (S, f"{numbers:,}", f"{fit.rows * S * 64 + fit.scores * 4 * S * S:,.0f}")
    for S, numbers in zip(lengths, saved, strict=True)
]
print(figures.table(["S", "numbers saved", "fitted"], rows))
print(f"\n{fit.rows:.2f} S d + {fit.scores:.2f} h S S; the same at S = {fit.crossing(64, 4):.0f}")

assert abs(fit.rows - 16) < 0.5, "about 16 matrices S x d"
assert abs(fit.scores - 1) < 0.02, "one stack of matrices h x S x S: softmax's result"
assert abs(fit.crossing(64, 4) - 257) < 8, "from about S = 257 on the scores take more than the rest"

# %% [markdown] lang="en"
# The 16: the inputs of both layer norms and their results (4), $q$, $k$, $v$ and the joined heads (4), GELU's input and
# its result, each $4d$ wide (8). The one $h \times S \times S$ is softmax's result, which both its own gradient and the
# product with $v$ need. What is left over, 0.06, is the mean and the deviation of each row in the layer norms.
#
# Our framework saves more, for its softmax and layer norm are composed of small operations, and each keeps what it
# needs:

# %% [markdown] lang="zh"
# 这 16 份是：两个 LayerNorm 的输入和输出（4）、$q$、$k$、$v$ 和拼接后的各个头（4）、GELU 的输入和输出，各宽 $4d$（8）。
# 那一份 $h \times S \times S$ 是 softmax 的结果，它自己的反向和乘 $v$ 的反向都要用。
# 零头 0.06 是 LayerNorm 里每行的均值和标准差。
#
# 我们的框架保存得更多，因为它的 softmax 和 LayerNorm 是由小运算拼起来的，每个小运算都要保存自己需要的东西：

# %%
plain = transformer.TransformerLayer(64, 4, p_dropout=0.0, backend=backend)
kept = [kept_numbers(plain(randn((1, S, 64), backend, requires_grad=True)), plain) for S in (64, 128, 256)]
own = activations.fit([64, 128, 256], kept, dim=64, heads=4)
print(f"our framework: {own.rows:.0f} S d + {own.scores:.0f} h S S; the same at S = {own.crossing(64, 4):.0f}")

# %%
# torch
S = np.arange(1, 513)
fig, axes = figures.figure(height=3.0)
linear, square = fit.rows * S * 64 * 4 / 2**20, fit.scores * 4 * S**2 * 4 / 2**20  # MiB in float32
axes.stackplot(S, linear, square, colors=[figures.BLUE, figures.RED], alpha=0.35)
axes.plot(lengths, np.array(saved) * 4 / 2**20, "o", color="black", label="measured")
axes.axvline(fit.crossing(64, 4), color=figures.GREY, linewidth=1, linestyle="--")
axes.text(fit.crossing(64, 4) + 6, 5.2, f"both the same: S = {fit.crossing(64, 4):.0f}", color=figures.GREY)
axes.text(490, 0.75, "16 S d", ha="right", color=figures.BLUE)
axes.text(490, 2.7, "h S S", ha="right", color=figures.RED)
axes.set(xlim=(0, 530), ylim=(0, None), xlabel="S, tokens", ylabel="saved activations, MiB")
axes.legend(loc="upper left")
figures.show(fig)

# %% [markdown] lang="en"
# **Figure 3.** What one layer ($d = 64$, $h = 4$, float32) keeps for backward: measured, and the two fitted terms, one
# on top of the other.
#
# In general the terms cross at $S = 16\,d/h$, sixteen times the size of a head; the FLOPs cross at $6d$. Take a layer
# of LLaMA-7B ($d = 4096$, $h = 32$) with $S = 8192$, 2 bytes a number:

# %% [markdown] lang="zh"
# **图 3** 一层（$d = 64$，$h = 4$，float32）为反向保存的激活值：圆点是实测，两块面积是拟合出的两项，叠在一起。
#
# 一般地，两项在 $S = 16\,d/h$，也就是每个头维数的 16 倍处相等，而 FLOPs 要到 $6d$ 才相等。
# 以 LLaMA-7B 的一层为例（$d = 4096$，$h = 32$），$S = 8192$，每个数 2 字节：

# %%
scores = activations.bytes_of_scores(length=8192, heads=32, width=2)
hidden = activations.bytes_of_rows(length=8192, dim=4096, width=2)
print(f"one h x S x S: {scores / 2**30:.1f} GiB")
print(f"one S x d: {hidden / 2**20:.0f} MiB; 16 of them: {16 * hidden / 2**30:.1f} GiB")
print(f"at S = 8192 the core takes {decoder_only.attention_share(LLAMA_DIM, 8192):.0%} of the layer's FLOPs")
assert scores == 4 * 2**30, "4.0 GiB"
assert hidden == 64 * 2**20, "64 MiB"

# %% [markdown] lang="en"
# A quarter of the FLOPs, and by our count four times the memory of all else that the layer saves. This is why
# FlashAttention never writes the $S \times S$ matrix down, and computes it again in the backward pass.

# %% [markdown] lang="zh"
# FLOPs 只占四分之一，按上面的算法显存却是这一层其余激活值的四倍。
# 所以 FlashAttention 从不把 $S \times S$ 矩阵写出来，反向时再算一遍。

# %% [markdown] lang="en"
# ## 5. Time
#
# FLOPs are not time. The small steps of the core (scale, mask, softmax) compute little, yet each of them goes through
# the whole $h \times S \times S$ stack. So the core takes more of a layer's **time** than of its FLOPs. Measured on the
# machine that built this page, the processor time of a forward pass ($d = 256$, $h = 4$, float32) of our layer and of
# PyTorch's; yours will differ.

# %% [markdown] lang="zh"
# ## 5. 时间
#
# FLOPs 不等于时间。核心里的几个小步骤（缩放、掩码、softmax）没算多少，可每一步都要走遍整个
# $h \times S \times S$ 的数组，所以核心占的**时间**比它占的 FLOPs 更多。下面是在生成本页的机器上测的前向的处理器时间
# （$d = 256$，$h = 4$，float32），一列是我们的层，一列是 PyTorch 的；在你的机器上数字会不同。

# %% tags=["volatile"]
# torch
torch.set_num_threads(1)  # a thread that waits for others would count as busy
plain, block = transformer.TransformerLayer(256, 4, p_dropout=0.0, backend=backend), Block(256, heads=4)


def in_our_framework(S: int) -> float:
    """Measure which share of our layer's time its attention core takes."""
    x = randn((1, S, 256), backend)
    q, kT, v = plain.attention.project_to_query_key_value(x)
    core, whole = shortest(lambda: plain.attention.self_attention(q, kT, v).to_numpy(), lambda: plain(x).to_numpy())
    return core / whole


@torch.no_grad()
def in_pytorch(S: int) -> float:
    """Measure which share of the PyTorch layer's time its attention core takes."""
    x = torch.ones(1, S, 256)
    q, k, v = block.project(x)
    core, whole = shortest(lambda: block.core(q, k, v), lambda: block(x))
    return core / whole


measured = [(S, decoder_only.attention_share(256, S), in_our_framework(S), in_pytorch(S)) for S in (128, 512, 2048)]
rows = [(S, *(f"{share:.0%}" for share in shares)) for S, *shares in measured]
print(figures.table(["S", "core, of FLOPs", "of time, our framework", "of time, PyTorch"], rows))

# %% [markdown] lang="en"
# ## 6. The original configuration
#
# The two models of *Attention Is All You Need* (sections 5 and 6.1, tables 2 and 3), with our count of their parameters
# (lab 02 derives it). What each line of the training is for: lab 05.

# %% [markdown] lang="zh"
# ## 6. 原论文的配置
#
# *Attention Is All You Need* 的两个模型（第 5 节、6.1 节，表 2、表 3），最后一行是我们数出的参数量（推导见实验 02）。
# 训练部分每一行的用意见实验 05。

# %%
rows = [
    ("encoder + decoder layers", "6 + 6", "6 + 6"),
    ("width d", 512, 1024),
    ("feed-forward width", 2048, 4096),
    ("heads x size of a head", "8 x 64", "16 x 64"),
    ("vocabulary, English-German", "BPE, 37,000, shared", "same"),
    ("tokens in a batch, source + target", "25,000 + 25,000", "same"),
    ("dropout", 0.1, "0.3 (English-French: 0.1)"),
    ("label smoothing", 0.1, "same"),
    ("Adam: beta 1, beta 2, eps", "0.9, 0.98, 1e-9", "same"),
    ("warm-up steps", "4,000", "same"),
    ("steps", "100,000", "300,000"),
    ("time on 8 P100 GPUs", "12 hours", "3.5 days"),
    ("checkpoints averaged", 5, 20),
    ("beam, length penalty", "4, 0.6", "same"),
    ("tokens of output at most", "source + 50", "same"),
    ("BLEU, English-German", 27.3, 28.4),
    ("parameters, paper", "65 M", "213 M"),
]
counts = [encoder_decoder.total(model) for model in (encoder_decoder.BASE, encoder_decoder.BIG)]
rows.append(("parameters, our count, V = 37,000", *(f"{count / 1e6:.1f} M" for count in counts)))
print(figures.table(["", "base", "big"], rows))

# %% [markdown] lang="en"
# ## To think about
#
# 1. Double $d$ and keep the parameters: how many layers are left? What becomes of the FLOPs a token, of $n = 6d$, of
#    the saved activations?
# 2. With a KV cache a new token costs the FLOPs of this lab. What does it cost in bytes read, and which of the two
#    limits a batch of one?
# 3. Our framework saves three stacks $h \times S \times S$ where PyTorch saves one. Which operations of `softmax` and
#    `self_attention` save the other two?
#
# ## To read
#
# - Kaplan et al. (2020), *Scaling Laws for Neural Language Models*, section 2.1: the same counts.
# - Korthikanti et al. (2022), *Reducing Activation Recomputation in Large Transformer Models*, section 4.
# - Dao et al. (2022), *FlashAttention: Fast and Memory-Efficient Exact Attention with IO-Awareness*.

# %% [markdown] lang="zh"
# ## 想一想
#
# 1. 把 $d$ 加倍而参数量不变，层数还剩多少？每 token 的 FLOPs、$n = 6d$ 的分界点、保存的激活值各会怎样？
# 2. 有 KV 缓存时，生成一个新 token 的 FLOPs 就是本实验算的数。那么要读多少字节？批大小为 1 时，卡在哪一个上？
# 3. PyTorch 只保存一份 $h \times S \times S$，我们的框架保存了三份。多出来的两份是 `softmax` 和 `self_attention`
#    里的哪些运算保存的？
#
# ## 延伸阅读
#
# - Kaplan et al. (2020), *Scaling Laws for Neural Language Models*：第 2.1 节，同样的算法。
# - Korthikanti et al. (2022), *Reducing Activation Recomputation in Large Transformer Models*：第 4 节。
# - Dao et al. (2022), *FlashAttention: Fast and Memory-Efficient Exact Attention with IO-Awareness*。
