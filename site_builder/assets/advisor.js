"use strict";
// Which noise has the least error for a query of given shape, sensitivities and budget? Closed forms
// where they are short; the rest lies between the numbers of advisor-grid.js, see advisor_grid.py.
const ADVISOR = (() => {
  // --- Gaussian noise ----------------------------------------------------------------------------
  const density = (x) => Math.exp(-x * x / 2) / Math.sqrt(2 * Math.PI);
  // (1 - Phi(x)) / phi(x): a continued fraction in the tail, else the series of Phi.
  const mills = (x) => {
    if (x > 2) {
      let tail = x;
      for (let k = 250; k > 0; k--) tail = x + k / tail;
      return 1 / tail;
    }
    let term = x, sum = x;
    for (let k = 3; Math.abs(term) > 1e-17 * Math.abs(sum); k += 2) sum += term *= x * x / k;
    return 0.5 / density(x) - sum;
  };
  // Balle and Wang 2018, Theorem 8: delta(epsilon) of two Gaussians mu deviations apart.
  const trueDelta = (mu, epsilon) => {
    const near = epsilon / mu - mu / 2;
    return near < -37 ? 1 : density(near) * (mills(near) - mills(epsilon / mu + mu / 2));
  };
  // Stirling's series, from 15 on.
  const logGamma = (x) => {
    let shift = 0;
    for (; x < 15; x++) shift -= Math.log(x);
    const series = 1 / (12 * x) - 1 / (360 * x ** 3) + 1 / (1260 * x ** 5);
    return shift + (x - 0.5) * Math.log(x) - x + Math.log(2 * Math.PI) / 2 + series;
  };
  // The root of a falling function, by bisection.
  const root = (excess, low, high) => {
    for (let step = 0; step < 200 && high > low; step++) {
      const middle = (low + high) / 2;
      if (middle === low || middle === high) break;
      if (excess(middle) > 0) low = middle;
      else high = middle;
    }
    return high;
  };
  const sigma = (epsilon, delta) =>
    Math.exp(root((log) => trueDelta(Math.exp(-log), epsilon) - delta, -7, 25));
  const trueEpsilon = (mu, delta) =>
    trueDelta(mu, 0) <= delta ? 0 : Math.exp(root((log) => trueDelta(mu, Math.exp(log)) - delta, -40, 30));

  // --- Tables ------------------------------------------------------------------------------------
  // Lagrange's weights, in a coordinate, of the four nodes around a value.
  const weights = (nodes, value, coordinate = Math.log) => {
    if (nodes.length === 1) return [[0, 1]];
    if (!(nodes[0] <= value && value <= nodes.at(-1))) return null;
    const above = nodes.findIndex((node) => node > value);
    const last = Math.max(nodes.length - 4, 0);
    const first = Math.min(Math.max((above < 0 ? nodes.length : above) - 2, 0), last);
    const near = [...nodes.keys()].slice(first, first + 4);
    const x = nodes.map(coordinate), t = coordinate(value);
    return near
      .map((i) => [i, near.reduce((w, j) => (j === i ? w : w * (t - x[j]) / (x[i] - x[j])), 1)])
      .filter(([, weight]) => weight !== 0);
  };
  // The exponential of what is interpolated; NaN outside of a table.
  const between = (name, { size, epsilon, delta }) => {
    const { sizes, epsilons, deltas, near, values } = ADVISOR_GRID[name];
    const place = (m) => -Math.log1p(near / m);
    const axes = [weights(sizes, size, place), weights(epsilons, epsilon), weights(deltas, delta)];
    if (axes.includes(null)) return NaN;
    let sum = 0;
    for (const [i, u] of axes[0])
      for (const [j, v] of axes[1])
        for (const [k, w] of axes[2]) {
          const value = values[(i * epsilons.length + j) * deltas.length + k];
          sum += value === null ? NaN : u * v * w * value;
        }
    return Math.exp(sum * ADVISOR_GRID.unit);
  };
  const error = (...names) => names.reduce((sum, name) => sum + ADVISOR_GRID[name].error, 0);
  // In the core of a table the interpolation is off by less.
  const errorAt = (name, { size, epsilon, delta }) => {
    const { core, core_size: least, core_error: inside } = ADVISOR_GRID[name];
    return core && size >= least && epsilon <= core[0] && delta <= core[1] ? inside : error(name);
  };

  // --- The query ---------------------------------------------------------------------------------
  // The norm of the most concentrated change: as many elements as possible move by linf.
  const concentrated = ({ size, l1 = Infinity, linf = Infinity }) => {
    if (l1 <= linf) return l1;
    const ratio = Math.min(l1 / linf * (1 + 1e-12), size);
    const whole = Math.floor(ratio);
    return linf * Math.sqrt(whole + (ratio < size ? (l1 / linf - whole) ** 2 : 0));
  };
  // With the l2 sensitivity that follows from what is stated; of one number all norms agree.
  const completed = (asked) => {
    const l2 = Math.min(asked.l2 ?? Infinity, concentrated(asked));
    return asked.size === 1 ? { ...asked, l1: l2, l2, linf: l2 } : { ...asked, l2 };
  };

  // --- Noise -------------------------------------------------------------------------------------
  const pure = (rmse, off = 0) => ({ rmse, off, epsilon: NaN, delta: 0, verdict: "holds" });
  const gaussian = (query, deviation, exact) => {
    const mu = query.l2 / deviation;
    const waste = (deviation / exact) ** 2;
    const tight = Math.abs(waste - 1) < 1e-9;
    return {
      rmse: deviation,
      off: 0,
      epsilon: tight ? query.epsilon : trueEpsilon(mu, query.delta),
      delta: tight ? query.delta : trueDelta(mu, query.epsilon),
      verdict: waste < 1 - 1e-9 ? "refuted" : waste > 1.01 ? "loose" : "holds",
    };
  };
  // R1SMG, Theorem 5: the variance sigma_* = 2 s^2 / (epsilon psi).
  const oneDirection = (query) => {
    const { size, epsilon, l2 } = query;
    const ratio = logGamma((size - 1) / 2) - logGamma(size / 2) - Math.log(Math.PI) / 2;
    const psi = Math.exp(2 / (size - 2) * (Math.log(query.delta) + ratio));
    const delta = Math.min(between("r1smg-delta", query), 1);
    const off = error("r1smg-delta");
    const apart = Math.abs(Math.log(delta / query.delta)) > 3 * off;
    return {
      rmse: l2 * Math.sqrt(2 / (epsilon * psi * size)),
      off,
      epsilon: NaN,
      delta,
      verdict: !apart ? "undecided" : delta > query.delta ? "refuted" : "loose",
    };
  };
  // Errors at sensitivity 1. Pure noise of the l2 ball, rescaled where delta > 0, lies near this:
  const nearBall = ({ size, epsilon, delta }) =>
    1 / Math.sqrt(epsilon ** 2 / (size + 1) + (delta === 0 ? 0 : sigma(epsilon, delta) ** -2));
  const ofBall = (query) => {
    const near = nearBall(query);
    return query.delta === 0 ? { rmse: near, off: 0 } : { rmse: near * between("l2", query), off: errorAt("l2", query) };
  };
  const ofLaplace = ({ epsilon, delta }) => ({ rmse: Math.SQRT2 / (epsilon - 2 * Math.log1p(-delta)), off: 0 });
  const ofCube = ({ size, epsilon }) => ({ rmse: Math.sqrt((size + 1) * (size + 2) / 3) / epsilon, off: 0 });
  // and of the staircase mechanism, which is made for one of three norms.
  const NEAR = { l2: ofBall, l1: ofLaplace, linf: ofCube };
  // For more elements than its tables have, its error is less by so much at most.
  const FEWER = 1.3e-4;
  const ofSteps = (norm, query) => {
    if (query.size === 1 && query.delta > 0) return ofCut(query);
    const near = NEAR[norm](query);
    // What it gains at delta > 0 on K-norm noise, which cannot be rescaled, is not computed here.
    if (norm === "linf" && query.delta > 0) return { rmse: NaN, off: 0 };
    if (query.size > ADVISOR_GRID[`pure-${norm}`].sizes.at(-1)) return { ...near, off: near.off + FEWER };
    const ratio = between(`pure-${norm}`, { ...query, delta: 0 });
    if (query.delta === 0) return { rmse: near.rmse * ratio, off: error(`pure-${norm}`) };
    const off = near.off + error(`pure-${norm}`, `staircase-${norm}`);
    return { rmse: near.rmse * ratio * between(`staircase-${norm}`, query), off };
  };
  // For one number at delta > 0 the density ends where delta pays for what is beyond:
  // mechanisms/privacy/staircase_shells.py, with the same names.
  const ofCut = ({ epsilon, delta }) => {
    const b = Math.exp(-epsilon), odds = Math.expm1(epsilon);
    const square = (log) => {
      const theta = Math.exp(log);
      const fallen = odds * (1 - 2 * delta * theta) / (2 * delta * (theta * odds + 1));
      const n = Math.max(Math.ceil(Math.log1p(fallen) / epsilon) - 1, 0);
      const inside = theta * Math.exp(n * epsilon) + Math.expm1(n * epsilon) / odds;
      const share = (1 - 2 * delta * inside) / (2 * delta * b - Math.expm1(-epsilon));
      let [mass, moment, density, from] = [0, 0, 1, 0];
      for (let k = 0; k <= n + 1; k++) {
        const to = theta + (k > n ? n + Math.min(Math.max(share, 0), 1) : k);
        mass += density * (to - from);
        moment += density * (to ** 3 - from ** 3) / 3;
        [density, from] = [density * b, to];
      }
      return moment / mass;
    };
    const low = -epsilon / 3 - 5, step = -low / 64;
    const grid = [...Array(65).keys()].map((i) => low + i * step);
    const costs = grid.map(square);
    const at = costs.indexOf(Math.min(...costs));
    let [left, right] = [grid[Math.max(at - 1, 0)], grid[Math.min(at + 1, 64)]];
    while (right - left > 1e-6) {
      const [first, second] = [left + (right - left) * 0.382, left + (right - left) * 0.618];
      if (square(first) < square(second)) right = second;
      else left = first;
    }
    return { rmse: Math.sqrt(square((left + right) / 2)), off: 1e-6 };
  };
  // More steps than this it does not take: those at which x^M e^(-epsilon x) is not e^-110 of its most.
  const MOST_STEPS = 1 << 14;
  const stepsOf = ({ size, epsilon }) => {
    const above = (u) => Math.log(u) - u + 1 + 110 / size;
    const [low, high] = [root((log) => -above(Math.exp(log)), -120, 0), root((log) => above(Math.exp(log)), 0, 7)];
    return (Math.exp(high) - Math.exp(low)) * size / epsilon;
  };
  // The calibration of its paper decides the norm.
  const staircase = (query) => {
    if (stepsOf(query) >= MOST_STEPS) return null;
    const norms = query.size === 1 ? ["l1"] : Object.keys(NEAR).filter((norm) => query[norm]);
    const found = norms.map((norm) => {
      const [exact, published] = [query, { ...query, delta: 0 }].map((each) => ofSteps(norm, each));
      return { exact: query[norm] * exact.rmse, off: exact.off, published: pure(query[norm] * published.rmse, published.off) };
    });
    const chosen = found.sort((one, other) => one.published.rmse - other.published.rmse)[0];
    return chosen.exact > 0 ? chosen : null;
  };
  // The least sigma at which Renyi DP proves the budget, by the orders of dp_accounting.
  const ORDERS = [...Array(99).keys()].map((i) => 1 + (i + 1) / 10).concat([...Array(53).keys()].map((i) => i + 11), [128, 256, 512, 1024]);
  const accountant = (epsilon, delta) => {
    const squares = ORDERS.map((order) => {
      const left = epsilon - Math.log1p(-1 / order) + Math.log(delta * order) / (order - 1);
      return left > 0 ? order / (2 * left) : Infinity;
    });
    return Math.sqrt(Math.min(...squares));
  };

  // Whether the tree of H_b has one level, which is Laplace noise: mechanisms/catalogue/workloads/hb.py.
  const isFlat = ({ size, axes = [size] }) => {
    const cells = Math.max(...axes);
    const square = axes.filter((n) => n > 1).length > 1;
    const cost = (h) => {
      let b = Math.max(2, Math.round(cells ** (1 / h)) - 1);
      while (b ** h < cells) b++;
      return square ? b * h ** 2 : 3 * (b - 1) * h ** 3 - 2 * (b + 1) * h ** 2;
    };
    const deeper = [...Array(20).keys()].map((i) => i + 2).filter((h) => 2 ** (h - 1) < cells);
    return axes.length < 3 && deeper.every((h) => cost(1) < cost(h));
  };

  // Every noise that the query allows: keys, error at equal true privacy, how far the interpolation
  // may be off (relatively), and the published calibration with what is true of it.
  const noises = (asked) => {
    const query = completed(asked);
    const { size, epsilon, delta, l1, l2, linf } = query;
    const found = [];
    const add = (keys, exact, published, off = 0, rescaled = true) =>
      found.push({ keys, exact, off, published, rescaled });
    if (delta > 0) {
      const exact = sigma(epsilon, delta) * l2;
      const made = (keys, deviation) => add(keys, exact, gaussian(query, deviation, exact));
      const matrices = asked.matrix ? ["mgm", "udn"] : [];
      if (asked.matrix) add(matrices, exact, null);
      made(["gaussian-analytic", "imgm", "llagp", "elliptic-gaussian", ...(linf ? ["inid-gaussian"] : [])], exact);
      const classical = Math.sqrt(2 * Math.log(1.25 / delta)) / epsilon;
      made(["gaussian", "matrix-mechanism", "matrix-mechanism-cvxpy"], classical * l2);
      const share = size * Math.sqrt(2 * Math.log(1.25 * size / delta)) / epsilon;
      made(["gaussian-per-element"], share * (linf ?? l2));
      made(["moments-accountant"], accountant(epsilon, delta) * l2);
      const along = l2 / delta * between("rank-one", query);
      add(["r1smg"], along, oneDirection(query), error("rank-one"));
      add(["product-noise"], along, null, error("rank-one"));
      const ball = size > 1 ? ofBall(query) : { rmse: NaN };
      const gamma = l2 * ball.rmse * between("spherical-gamma", query);
      const off = ball.off + errorAt("spherical-gamma", query);
      add(["spherical-gamma"], gamma, { rmse: gamma, off, epsilon, delta, verdict: "holds" }, off);
    }
    if (size > 1) {
      const exact = ofBall(query);
      add(["l2"], l2 * exact.rmse, pure(l2 * ofBall({ ...query, delta: 0 }).rmse), exact.off);
    }
    const steps = staircase(query);
    if (steps) add(["staircase"], steps.exact, steps.published, steps.off);
    if (l1) {
      const keys = ["laplace", ...(isFlat(query) ? ["hb"] : []), "matrix-mechanism-l1"];
      add(keys, l1 * ofLaplace(query).rmse, pure(Math.SQRT2 * l1 / epsilon));
    }
    if (linf) {
      const published = linf * ofCube(query).rmse;
      add(["k-norm"], published, pure(published), 0, delta === 0);
    }
    for (const each of found)
      if (each.published && Number.isNaN(each.published.epsilon) && each.published.delta === 0)
        each.published.epsilon = epsilon;
    return found.filter((each) => each.exact > 0).sort((one, other) => one.exact - other.exact);
  };

  // --- The limit ---------------------------------------------------------------------------------
  // The radius of the l2 ball with the volume of the largest ball, of any norm, of allowed changes.
  const radiusOfVolume = (size, radii) => {
    const round = size / 2 * Math.log(Math.PI) - logGamma(size / 2 + 1);
    const cube = size * Math.log(2);
    const volumes = { l1: cube - logGamma(size + 1), l2: round, linf: cube };
    return Math.max(...Object.keys(radii).map((n) => radii[n] * Math.exp((volumes[n] - round) / size)));
  };
  // max over j of M j t^2, where t of j elements may change together: mechanisms/limit/limit.py.
  const signedChanges = ({ size, l1 = Infinity, l2, linf = Infinity }) => {
    const crossings = [l1 / linf, (l2 / linf) ** 2, (l1 / l2) ** 2].filter((c) => 1 <= c && c < size);
    const counts = [1, size, ...crossings.flatMap((c) => [Math.floor(c), Math.ceil(c)])];
    return Math.max(...counts.map((j) => size * j * Math.min(linf, l2 / Math.sqrt(j), l1 / j) ** 2));
  };
  // The limit for a ball of l2 at delta 0: the error of staircase noise.
  const pureLimit = (query) => ofSteps(query.size === 1 ? "l1" : "l2", { ...query, delta: 0 });
  const ballLimit = (query) => {
    const pure = pureLimit(query);
    if (query.delta === 0) return pure;
    const table = query.size === 1 ? "limit-of-one" : "limit";
    const near = pure.rmse / nearBall({ ...query, delta: 0 }) * nearBall(query);
    return { rmse: near * between(table, query), off: pure.off + errorAt(table, query) };
  };
  // Less than a lower bound of the root mean square error of every mechanism by up to twice what the
  // interpolation may be off; NaN beyond the budgets of its table.
  const limit = (asked) => {
    const query = completed(asked);
    const { size, delta, l1 = Infinity, l2, linf = Infinity } = query;
    const root = Math.sqrt(size);
    const radii = {
      l1: Math.min(l1, l2, linf),
      l2: Math.min(l1 / root, l2, linf),
      linf: Math.min(l1 / size, l2 / root, linf),
    };
    const found = [{ factor: Math.sqrt(signedChanges(query) / size), ...ballLimit({ ...query, size: 1 }) }];
    if (size > 1) {
      const factor = delta === 0 ? radiusOfVolume(size, radii) : radii.l2;
      found.push({ factor, ...ballLimit(query) });
    }
    const bounds = found.map(({ factor, rmse, off }) => ({ rmse: factor * rmse * (1 - off), off }));
    // Of one element alone it is known for more budgets, and far below that of many.
    if (!bounds.every((each) => each.rmse > 0)) return { rmse: NaN, off: 0 };
    return bounds.reduce((most, each) => (each.rmse > most.rmse ? each : most));
  };

  return { noises, limit, completed, sigma, trueDelta, trueEpsilon };
})();
