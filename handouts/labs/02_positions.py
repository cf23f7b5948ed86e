# %% [markdown] lang="en"
# # Lab 02. Positions and embeddings
#
# Attention compares contents; of their order it knows nothing. So the order is added to the content. You will see
#
# - the sinusoidal encoding as a clock with many hands, in which no two of 2048 positions look alike;
# - that a shift by $k$ is a rotation, and that the dot product of two encodings depends on their distance only;
# - how a learned table of positions ends where its rows end;
# - why the original Transformer multiplies its embeddings by $\sqrt d$, and what it saves by sharing one table.
#
# It belongs to lecture 6, section 4, needs NumPy and Matplotlib, and runs in a few seconds.

# %% [markdown] lang="zh"
# # 实验 02：位置编码与嵌入
#
# 注意力只比较内容，对顺序一无所知，所以要把顺序加到内容里。本实验要看的是：
#
# - 正弦位置编码像一只有许多指针的钟，2048 个位置里没有两个是一样的；
# - 平移 $k$ 个位置就是一次旋转，两个编码的点积只取决于它们的距离；
# - 学出来的位置表有多少行，序列就只能有多长；
# - 原论文为什么把嵌入乘以 $\sqrt d$，输入和输出共享一张表又省下多少参数。
#
# 对应第 6 讲第 4 节；只需要 NumPy 和 Matplotlib，几秒钟跑完。

# %%
import numpy as np

from assignment.framework import TensorBackend, tensor
from handouts.labs import angles, encoder_decoder, figures, parameters, sinusoidal
from handouts.labs.course import transformer

# %% [markdown] lang="en"
# ## 1. A clock with many hands
#
# Position $t$ becomes a vector of $d$ features, in pairs. Pair $i$ turns with a frequency of its own:
#
# $$PE_{t,2i} = \sin(\omega_i t),\qquad PE_{t,2i+1} = \cos(\omega_i t),\qquad \omega_i = 10000^{-2i/d}.$$
#
# With $d = 8$ there are four pairs, and each turns ten times more slowly than the one before, as the hands of a clock
# do: a fast one tells neighbours apart, a slow one tells the beginning of a text from its end.

# %% [markdown] lang="zh"
# ## 1. 一只有许多指针的钟
#
# 位置 $t$ 变成一个 $d$ 维向量，两维一对，第 $i$ 对以自己的角频率转动：
#
# $$PE_{t,2i} = \sin(\omega_i t),\qquad PE_{t,2i+1} = \cos(\omega_i t),\qquad \omega_i = 10000^{-2i/d}.$$
#
# $d = 8$ 时有四对，每一对都比前一对慢十倍，就像钟的指针：快的指针分得清相邻的位置，慢的指针分得清文章的开头和结尾。

# %%
times = [1, 10, 100, 1000]
hands = sinusoidal.encode(times, 8).reshape(4, 4, 2)  # (T, d) -> (T, pairs, 2): sine and cosine
around = np.linspace(0, 2 * np.pi, 60)

fig, axes = figures.figure(width=5.2, height=4.3)
for row, t in enumerate(times):
    for column, (sine, cosine) in enumerate(hands[row]):
        x, y = 3.2 * column, -2.6 * row
        axes.plot(x + np.cos(around), y + np.sin(around), color=figures.GREY, linewidth=0.8)
        axes.plot([x, x + sine], [y, y + cosine], color=figures.BLUE if t != 10**column else figures.RED, linewidth=2.5)
    axes.text(-1.6, y, f"t = {t}", ha="right", va="center")
for column, wavelength in enumerate(sinusoidal.wavelengths(8)):
    axes.text(3.2 * column, 1.4, f"pair {column}\nperiod {wavelength:,.0f}", ha="center", va="bottom")
axes.set(aspect="equal", xlim=(-3.6, 11), ylim=(-8.9, 3.1))
axes.axis("off")
figures.show(fig)

# %% [markdown] lang="en"
# **Figure 1.** The encodings of four positions, $d = 8$. A hand points to $(\sin, \cos)$; at $t = 0$ all of them stand
# at twelve o'clock. Red: a hand that has turned by exactly one radian. The hand to the right of a red one has turned by
# a tenth of that, the one to its left by ten times as much. At $t = 1000$ pair 0 points almost where it did at $t = 1$:
# one hand alone cannot tell the two apart, all together can. (Periods are in positions.)
#
# With $d = 512$ there are 256 hands:

# %% [markdown] lang="zh"
# **图 1** 四个位置的编码，$d = 8$。指针指向 $(\sin, \cos)$，$t = 0$ 时全都指向十二点。红色：恰好转过 1 弧度的指针。
# 红色指针右边的一根只转了它的十分之一，左边的一根转了它的十倍。$t = 1000$ 时第 0 对几乎又指到 $t = 1$ 时的方向：
# 单看一根指针分不清这两个位置，合在一起看就分得清。（周期以位置数为单位。）
#
# $d = 512$ 时有 256 根指针：

# %%
D = 512
wavelengths = sinusoidal.wavelengths(D)
print(f"{len(wavelengths)} pairs, wavelengths from {wavelengths[0]:.2f} to {wavelengths[-1]:,.0f} positions")

assert round(wavelengths[0], 2) == 6.28, "the fastest pair comes round after 2 pi positions"
assert round(wavelengths[-1]) == 60_611, "the slowest after 2 pi 10000^(510/512)"

# %% [markdown] lang="en"
# ## 2. No two positions look alike
#
# A code is of use only if it tells positions apart. Take the first 2048, and measure the distance of any two.

# %% [markdown] lang="zh"
# ## 2. 没有两个位置是一样的
#
# 编码要能把位置区分开才有用。取前 2048 个位置，两两量距离。

# %%
codes = sinusoidal.encode(range(2048), D)  # (T, d)
distances = sinusoidal.distance_matrix(codes)  # (T, T)
others = distances + np.diag(np.full(2048, np.inf))  # a position is not its own neighbour
nearest = others.argmin(axis=1)  # (T,)
far = np.abs(nearest - np.arange(2048)).max()
print(f"smallest distance of two positions: {others.min():.3f}; nearest neighbour: {far} position away, for all 2048")

assert round(others.min(), 3) == 3.714, "the two closest of 2048 encodings are 3.714 apart"
assert far == 1, "the nearest neighbour is always an adjacent position"

# %%
fig, (left, right) = figures.figure(height=3.2, columns=2)
picture = left.imshow(distances[::16, ::16], extent=(0, 2048, 2048, 0))  # every 16th position: (128, 128)
left.set(title="distance of PE(t) and PE(s)", xlabel="position s", ylabel="position t")
fig.colorbar(picture, ax=left, shrink=0.9)
k = np.arange(1, 2048)
right.plot(k, distances[0, 1:], color=figures.BLUE, linewidth=1)
right.plot(1, distances[0, 1], "o", color=figures.RED)
right.annotate("3.714 at k = 1", (1, distances[0, 1]), xytext=(10, -3), textcoords="offset points")
right.set(title="distance of PE(0) and PE(k)", xscale="log", ylim=(0, None), xlabel="k, positions apart")
figures.show(fig)

# %% [markdown] lang="en"
# **Figure 2.** Left: the distances of any two positions. Along every diagonal the colour is the same: only $t - s$
# matters. Right: one row of the matrix. Adjacent positions are the closest; further on, every factor of ten in $k$ adds
# about the same to the squared distance, for it sets another quarter of the hands in motion. Near by, the code is
# precise; far away it is coarse.

# %% [markdown] lang="zh"
# **图 2** 左：任意两个位置的距离。沿着每一条对角线颜色都相同，即只与 $t - s$ 有关。右：矩阵的一行。
# 相邻的位置离得最近；再往远处，$k$ 每增大到十倍，就又有四分之一的指针明显转动，距离的平方大致增加同样多。
# 近处分得细，远处分得粗。

# %% [markdown] lang="en"
# ## 3. A shift is a rotation
#
# Turn pair $i$ of $PE(t)$ by the angle $\omega_i k$. By the addition formulas this is $PE(t + k)$:
#
# $$\begin{aligned}
# \sin\omega_i(t+k) &= \sin\omega_i t\,\cos\omega_i k + \cos\omega_i t\,\sin\omega_i k\\
# \cos\omega_i(t+k) &= \cos\omega_i t\,\cos\omega_i k - \sin\omega_i t\,\sin\omega_i k
# \end{aligned}$$
#
# The angle is a matter of $k$ alone: one linear map leads from any position to the one $k$ further on.

# %% [markdown] lang="zh"
# ## 3. 平移就是旋转
#
# 把 $PE(t)$ 的第 $i$ 对转过角度 $\omega_i k$。由和角公式，得到的正是 $PE(t + k)$：
#
# $$\begin{aligned}
# \sin\omega_i(t+k) &= \sin\omega_i t\,\cos\omega_i k + \cos\omega_i t\,\sin\omega_i k\\
# \cos\omega_i(t+k) &= \cos\omega_i t\,\cos\omega_i k - \sin\omega_i t\,\sin\omega_i k
# \end{aligned}$$
#
# 转多少只看 $k$：从任何位置出发，同一个线性变换都走到它后面第 $k$ 个位置。

# %%
here = codes[:100]  # (100, d)
errors = [np.abs(sinusoidal.rotate(here, k) - sinusoidal.encode(np.arange(100) + k, D)).max() for k in (1, 7, 300)]
assert max(errors) < 1e-12, "PE(t), turned by w k, is PE(t + k)"
print("PE(t) turned by w k against PE(t + k), t < 100, k = 1, 7, 300: the largest error is below 1e-12")

norms = np.linalg.norm(codes, axis=1)  # (T,)
assert np.allclose(norms, 16, rtol=0, atol=1e-12), "sin^2 + cos^2 = 1 for each of the 256 pairs: the norm is sqrt(256)"
print(f"norm of every encoding: {norms.mean():.0f} = sqrt(d/2)")

# %% [markdown] lang="en"
# Rotations do not change angles, so the dot product of two encodings can depend on their distance only:
#
# $$PE(t)\cdot PE(t+k) = \sum_i \cos(\omega_i k).$$

# %% [markdown] lang="zh"
# 旋转不改变夹角，所以两个编码的点积只能取决于它们的距离：
#
# $$PE(t)\cdot PE(t+k) = \sum_i \cos(\omega_i k).$$

# %%
rows = []
for k in (0, 1, 10, 100, 1000):
    products = (here * sinusoidal.encode(np.arange(100) + k, D)).sum(axis=1)  # (100,): one for each t
    (expected,) = sinusoidal.dot_product([k], D)
    assert products.std() < 1e-12, "the dot product is the same for every t"
    assert np.allclose(products, expected, rtol=0, atol=1e-11), "it is the sum of cos(w k)"
    rows.append((k, f"{products.mean():.3f}", f"{expected:.3f}", "below 1e-12"))
print(figures.table(["k", "PE(t).PE(t+k), mean over t", "sum of cos(w k)", "standard deviation over t"], rows))

# %%
k = np.arange(-200, 201)
fig, axes = figures.figure(height=2.9)
axes.plot(
    k, sinusoidal.dot_product(k, D), color=figures.GREY, linewidth=5, alpha=0.5, label=r"$\sum_i \cos(\omega_i k)$"
)
for t, colour in ((200, figures.BLUE), (1000, figures.RED)):
    dots = codes[t + k[::10]] @ codes[t]  # (K, d) @ (d,) -> (K,)
    axes.plot(k[::10], dots, "o" if t == 200 else "x", color=colour, label=f"PE({t})·PE({t} + k)")
axes.set(xlabel="k, positions apart", ylabel="dot product", ylim=(0, None))
axes.legend()
figures.show(fig)

# %% [markdown] lang="en"
# **Figure 3.** Seen from position 200 and from position 1000, the neighbourhood looks the same: highest at $k = 0$
# ($d/2 = 256$), falling to both sides. RoPE (lecture 7) carries this further: it rotates the queries and keys
# themselves, so that the attention scores depend on positions only through the distance.

# %% [markdown] lang="zh"
# **图 3** 从位置 200 和从位置 1000 看出去，周围是一样的：$k = 0$ 时最高（$d/2 = 256$），向两边下降。
# RoPE（第 7 讲）更进一步：直接旋转查询和键，使注意力分数只通过距离依赖于位置。

# %% [markdown] lang="en"
# ## 4. A learned table ends
#
# The vectors of positions can be learned, too: GPT-2, BERT and this homework have a table of `n_positions` rows, one
# for each. It does about as well as the formula (original paper, table 3, row E), but it has a last row. Ask a model
# with 8 positions for a sequence of 9:

# %% [markdown] lang="zh"
# ## 4. 学出来的位置表有尽头
#
# 位置向量也可以学出来：GPT-2、BERT 和本次作业都有一张 `n_positions` 行的表，每个位置一行。
# 据原论文表 3 的 E 行，它和公式不相上下。但是表总有最后一行。给一个只有 8 个位置的模型送去长度为 9 的序列：

# %%
backend = TensorBackend(seed=0)
model = transformer.DecoderLM(n_vocab=20, n_embd=8, n_head=2, n_positions=8, backend=backend, n_layer=1)
print("length 8:", model(tensor([[3] * 8], backend)).shape)
refusal = ""
try:
    model(tensor([[3] * 9], backend))
except ValueError as error:
    refusal = str(error)
print("length 9:", refusal)
assert refusal, "a table of 8 positions refuses a sequence of 9"

beyond = sinusoidal.encode([9999], D)
print(f"sinusoidal, t = 9999: a vector of norm {np.linalg.norm(beyond):.0f}, like any other")

# %% [markdown] lang="en"
# The formula has an encoding for every position. But a model that was trained on short texts has never seen the slow
# hands point there, and was never told what that means.

# %% [markdown] lang="zh"
# 公式对任何位置都给得出编码。可是只用短文本训练过的模型，从没见过慢指针指到那里，也没人教过它那是什么意思。

# %% [markdown] lang="en"
# ## 5. Why the embeddings are multiplied by $\sqrt d$
#
# The original paper gives no reason for the factor $\sqrt d$. The norms suggest one: an embedding drawn from $N(0,
# 1/d)$ has a norm of about 1, every encoding one of $\sqrt{d/2} = 16$. Their sum is nearly all position. Two random
# vectors of many features are almost at right angles, so with norms $a$ (token) and $b$ (position)
#
# $$\cos(\text{token},\ \text{token} + \text{position}) \approx \frac{a}{\sqrt{a^2 + b^2}}.$$

# %% [markdown] lang="zh"
# ## 5. 为什么把嵌入乘以 $\sqrt d$
#
# 为什么要乘 $\sqrt d$，原论文没有说。比一比长度，就能想到一个理由：从 $N(0, 1/d)$ 抽出的嵌入长度约为 1，
# 而位置编码的长度都是 $\sqrt{d/2} = 16$。两者一加，剩下的几乎全是位置。
# 高维空间里两个随机向量几乎正交，所以设 token 嵌入的长度为 $a$、位置编码的长度为 $b$，有
#
# $$\cos(\text{token},\ \text{token} + \text{位置}) \approx \frac{a}{\sqrt{a^2 + b^2}}.$$

# %%
SMALL, SCALED, LEARNED = "N(0, 1/d) + sinusoidal", "sqrt(d) N(0, 1/d) + sinusoidal", "N(0, 1) + learned N(0, 1)"


def tokens_and_positions(case: str, dim: int, count: int = 1000) -> tuple[np.ndarray, np.ndarray]:
    """Draw `count` tokens, each at a position of its own: two arrays (count, dim)."""
    rng = np.random.default_rng(dim)
    tokens = rng.normal(size=(count, dim)) * (dim**-0.5 if case == SMALL else 1)
    return tokens, rng.normal(size=(count, dim)) if case == LEARNED else sinusoidal.encode(range(count), dim)


# %%
rows, found = [], {}
for case in (SMALL, SCALED, LEARNED):
    tokens, positions = tokens_and_positions(case, D)
    norms = [np.linalg.norm(vectors, axis=1).mean() for vectors in (tokens, positions)]
    found[case] = angles.mean_cosine(tokens, tokens + positions)
    rows.append(
        (case, *(f"{norm:.1f}" for norm in norms), f"{found[case]:.2f}", f"{angles.expected_cosine(*norms):.2f}")
    )
print(figures.table(["token + position, d = 512", "|token|", "|position|", "cosine", "expected"], rows))
assert abs(found[SMALL] - 0.06) < 0.01, "without the factor, the sum has little of the token"
assert abs(found[SCALED] - 0.82) < 0.01, "with it, more of the token than of the position"

# %%
dims = 2 ** np.arange(4, 12)
fig, axes = figures.figure(height=3.0)
for case, colour in ((SCALED, figures.BLUE), (LEARNED, figures.GREEN), (SMALL, figures.RED)):
    pairs = [tokens_and_positions(case, int(dim)) for dim in dims]
    cosines = [angles.mean_cosine(tokens, tokens + positions) for tokens, positions in pairs]
    axes.plot(dims, cosines, "o-", color=colour)
    axes.annotate(case, (dims[-1], cosines[-1]), xytext=(0, 7), textcoords="offset points", ha="right", color=colour)
axes.set(xscale="log", ylim=(0, 1), xlabel="d", ylabel="cosine of token and sum")
axes.set_xticks(dims, [str(dim) for dim in dims], minor=False)
axes.minorticks_off()
figures.show(fig)

# %% [markdown] lang="en"
# **Figure 4.** How much of the token is left after its position is added. With the factor $\sqrt d$ it is
# $\sqrt{2/3} = 0.82$ at every width; without it, the wider the model, the less. Two tables that start from $N(0, 1)$,
# as in this homework, have the same norm: $\sqrt{1/2} = 0.71$; and training adjusts the scale of both.

# %% [markdown] lang="zh"
# **图 4** 加上位置之后，token 的信息还剩多少。乘以 $\sqrt d$ 时，不论 $d$ 多大都是 $\sqrt{2/3} = 0.82$；
# 不乘时，模型越宽，剩下的越少。如果两张表都从 $N(0, 1)$ 开始（本次作业就是这样），两者长度相同，余弦是
# $\sqrt{1/2} = 0.71$；而且训练会自己调整两张表的尺度。

# %% [markdown] lang="en"
# ## 6. One table for input and output
#
# The output layer scores every word by a dot product, $\text{logits} = h\,E^\top$: the more alike $h$ and the word's
# vector are, the higher. The input embedding already has such a vector for every word, so the original paper uses one
# table for the source, for the target and for the output. First, the formula of each part against the modules of this
# homework (cross-attention has the same four projections):

# %% [markdown] lang="zh"
# ## 6. 输入和输出共用一张表
#
# 输出层用点积给每个词打分，$\text{logits} = h\,E^\top$：$h$ 和这个词的向量越接近，分数越高。
# 输入嵌入里每个词本来就有一个这样的向量，所以原论文让源端、目标端和输出层共用一张表。
# 先用本次作业的模块核对每一部分的公式（交叉注意力也是同样的四个投影）：

# %%
real = {
    "attention": (parameters.attention(D), transformer.MultiHeadAttention(D, 8, backend=backend)),
    "feed-forward": (parameters.feed_forward(D, 4 * D), transformer.FeedForward(D, backend=backend)),
    "encoder layer": (parameters.block(D, 4 * D), transformer.TransformerLayer(D, 8, backend=backend)),
}
rows = [(name, f"{formula:,}", f"{parameters.counted(module):,}") for name, (formula, module) in real.items()]
print(figures.table(["d = 512", "by the formula", "in the module"], rows))
assert all(formula == parameters.counted(module) for formula, module in real.values()), "each formula counts its module"

# %% [markdown] lang="en"
# Then the whole model: six encoder layers, six decoder layers, a vocabulary of 37,000.

# %% [markdown] lang="zh"
# 再看整个模型：编码器 6 层，解码器 6 层，词表 37,000。

# %%
for name, original in (("base, d = 512", encoder_decoder.BASE), ("big, d = 1024", encoder_decoder.BIG)):
    rows = [(part.name, f"{part.each:,}", part.times, f"{part.total:,}") for part in encoder_decoder.parts(original)]
    rows.append(("all", "", "", f"{encoder_decoder.total(original):,}"))
    print(figures.table([name, "each", "times", "parameters"], rows), end="\n\n")

# %%
rows = []
for name, original, published in (("base", encoder_decoder.BASE, 65), ("big", encoder_decoder.BIG, 213)):
    sizes = [f"{encoder_decoder.total(original, shared=shared) / 1e6:.1f}" for shared in (False, True)]
    rows.append((name, *sizes, published, f"{encoder_decoder.saving(original):.1%}"))
print(figures.table(["", "three tables, M", "one table, M", "paper, M", "saved"], rows))

assert encoder_decoder.total(encoder_decoder.BASE) == 63_082_496, "base with one table: about 63 M"
assert round(encoder_decoder.saving(encoder_decoder.BASE), 3) == 0.375, "sharing saves 37.5% of base"
assert abs(encoder_decoder.total(encoder_decoder.BIG) / 213e6 - 1) < 0.01, "big with one table: the paper's 213 M"

table, llama = 32_000 * 4096, 6_738_415_616  # LLaMA-7B: V d, and all its parameters as published
print(f"\nLLaMA-7B does not share: a second table of {table / 1e6:.0f} M is {table / llama:.1%} of {llama / 1e9:.2f} G")

# %% [markdown] lang="en"
# The paper's figures fit the column of one table; what is left of the difference is in details that it does not give,
# such as the exact vocabulary. How much sharing saves depends on how large the vocabulary is beside the model: 37.5% of
# base, 2% of LLaMA-7B.

# %% [markdown] lang="zh"
# 原论文的数字和“一张表”这一列相符；剩下的差别在论文没有写明的细节里，例如词表的确切大小。
# 共享能省多少，要看词表相对于模型有多大：base 省 37.5%，LLaMA-7B 只能省 2%。

# %% [markdown] lang="en"
# ## To think about
#
# 1. In figure 2 the distance hardly grows between $k = 5$ and $k = 7$. Which hands have come round by then?
# 2. What would you lose if every pair had the same wavelength: $2\pi$? $60{,}000$?
# 3. In section 5 the position drowned the token. Could a model learn its way out of it? What would it have to learn?
#
# ## To read
#
# - Vaswani et al. (2017), *Attention Is All You Need*, sections 3.4 and 3.5, table 3 (E).
# - Press & Wolf (2017), *Using the Output Embedding to Improve Language Models*.
# - Su et al. (2021), *RoFormer: Enhanced Transformer with Rotary Position Embedding*.

# %% [markdown] lang="zh"
# ## 想一想
#
# 1. 图 2 里，从 $k = 5$ 到 $k = 7$ 距离几乎不增长。这时哪些指针又转回来了？
# 2. 如果所有的对都用同一个波长，会失去什么？波长都是 $2\pi$ 呢？都是 $60{,}000$ 呢？
# 3. 第 5 节里位置编码淹没了 token 的信息。模型能不能靠训练摆脱这种情形？它要学会什么？
#
# ## 延伸阅读
#
# - Vaswani et al. (2017), *Attention Is All You Need*：第 3.4、3.5 节，表 3 的 E 行。
# - Press & Wolf (2017), *Using the Output Embedding to Improve Language Models*。
# - Su et al. (2021), *RoFormer: Enhanced Transformer with Rotary Position Embedding*。
