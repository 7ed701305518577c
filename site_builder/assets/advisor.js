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
  // Lagrange's weights, in the logarithm, of the four nodes around a value.
  const weights = (nodes, value) => {
    if (nodes.length === 1) return [[0, 1]];
    if (!(nodes[0] <= value && value <= nodes.at(-1))) return null;
    const above = nodes.findIndex((node) => node > value);
    const last = Math.max(nodes.length - 4, 0);
    const first = Math.min(Math.max((above < 0 ? nodes.length : above) - 2, 0), last);
    const near = [...nodes.keys()].slice(first, first + 4);
    const x = nodes.map(Math.log), t = Math.log(value);
    return near
      .map((i) => [i, near.reduce((w, j) => (j === i ? w : w * (t - x[j]) / (x[i] - x[j])), 1)])
      .filter(([, weight]) => weight !== 0);
  };
  // The exponential of what is interpolated; NaN outside of a table.
  const between = (name, { size, epsilon, delta }) => {
    const { sizes, epsilons, deltas, values } = ADVISOR_GRID[name];
    const axes = [weights(sizes, size), weights(epsilons, epsilon), weights(deltas, delta)];
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
  const error = (...names) => Math.max(...names.map((name) => ADVISOR_GRID[name].error));

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
  const gaussian = (query, deviation, exact, off = 0) => {
    const mu = query.l2 / deviation;
    const waste = (deviation / exact) ** 2;
    const tight = Math.abs(waste - 1) < 1e-9;
    return {
      rmse: deviation,
      off,
      epsilon: tight ? query.epsilon : trueEpsilon(mu, query.delta),
      delta: tight ? query.delta : trueDelta(mu, query.epsilon),
      verdict: waste < 1 - 1e-9 ? "refuted" : waste > 1.01 ? "loose" : "holds",
    };
  };
  const oneDirection = (query, key, exact) => {
    const odds = between(`${key}-delta`, query);
    const delta = odds / (1 + odds);
    const off = error(`${key}-published`, `${key}-delta`, `${key}-epsilon`);
    const apart = Math.abs(Math.log(delta / query.delta)) > 3 * off;
    return {
      rmse: exact * between(`${key}-published`, query),
      off,
      epsilon: between(`${key}-epsilon`, query),
      delta,
      verdict: !apart ? "undecided" : delta > query.delta ? "refuted" : "loose",
    };
  };
  // Pure noise of the staircase mechanism, by norm; the calibration of its paper decides the norm.
  const staircase = (query) => {
    const { size, epsilon, delta } = query;
    const forms = {
      l2: [Math.sqrt(size + 1) / epsilon, sigma(epsilon, delta || 0.1)],
      l1: [Math.SQRT2 / epsilon, Math.SQRT2 / (epsilon - 2 * Math.log1p(-delta))],
      linf: Array(2).fill(Math.sqrt((size + 1) * (size + 2) / 3) / epsilon),
    };
    const norms = size === 1 ? ["l1"] : Object.keys(forms).filter((norm) => query[norm]);
    const found = norms.map((norm) => {
      const published = query[norm] * forms[norm][0] * between(`staircase-${norm}-pure`, { ...query, delta: 0 });
      const exact = delta ? query[norm] * forms[norm][1] * between(`staircase-${norm}`, query) : published;
      const off = error(`staircase-${norm}-pure`, ...(delta ? [`staircase-${norm}`] : []));
      return { exact, off, published: pure(published, off) };
    });
    return found.sort((one, other) => one.published.rmse - other.published.rmse)[0];
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
      const made = (keys, deviation, off) => add(keys, exact, gaussian(query, deviation, exact, off));
      const matrices = asked.matrix ? ["mgm", "udn"] : [];
      if (asked.matrix) add(matrices, exact, null);
      made(["gaussian-analytic", "imgm", "llagp", "elliptic-gaussian", ...(linf ? ["inid-gaussian"] : [])], exact);
      const classical = Math.sqrt(2 * Math.log(1.25 / delta)) / epsilon;
      made(["gaussian", "matrix-mechanism", "matrix-mechanism-cvxpy"], classical * l2);
      const share = size * Math.sqrt(2 * Math.log(1.25 * size / delta)) / epsilon;
      made(["gaussian-per-element"], share * (linf ?? l2));
      made(["moments-accountant"], exact * between("moments-accountant", query), error("moments-accountant"));
      for (const key of ["r1smg", "product-noise"])
        add([key], exact * between(key, query), oneDirection(query, key, exact), error(key));
      const gamma = exact * between("spherical-gamma", query);
      const off = error("spherical-gamma");
      add(["spherical-gamma"], gamma, { rmse: gamma, off, epsilon, delta, verdict: "holds" }, off);
    }
    if (size > 1) {
      const published = Math.sqrt(size + 1) / epsilon * l2;
      const exact = delta ? sigma(epsilon, delta) * l2 * between("l2", query) : published;
      add(["l2"], exact, pure(published), delta ? error("l2") : 0);
    }
    const steps = staircase(query);
    add(["staircase"], steps.exact, steps.published, steps.off);
    if (l1) {
      const keys = ["laplace", "hb", "matrix-mechanism-l1"];
      add(keys, Math.SQRT2 * l1 / (epsilon - 2 * Math.log1p(-delta)), pure(Math.SQRT2 * l1 / epsilon));
    }
    if (linf) {
      const published = Math.sqrt((size + 1) * (size + 2) / 3) / epsilon * linf;
      add(["k-norm"], published, pure(published), 0, delta === 0);
    }
    for (const each of found)
      if (each.published && Number.isNaN(each.published.epsilon) && each.published.delta === 0)
        each.published.epsilon = epsilon;
    return found.filter((each) => each.exact > 0).sort((one, other) => one.exact - other.exact);
  };

  // --- The limit ---------------------------------------------------------------------------------
  const logGamma = (x) => {
    let shift = 0;
    for (; x < 15; x++) shift -= Math.log(x);
    const series = 1 / (12 * x) - 1 / (360 * x ** 3) + 1 / (1260 * x ** 5);
    return shift + (x - 0.5) * Math.log(x) - x + Math.log(2 * Math.PI) / 2 + series;
  };
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
  // A lower bound of the root mean square error of every mechanism, NaN where the tables end.
  const limit = (asked) => {
    const query = completed(asked);
    const { size, epsilon, delta, l1 = Infinity, l2, linf = Infinity } = query;
    const root = Math.sqrt(size);
    const radii = {
      l1: Math.min(l1, l2, linf),
      l2: Math.min(l1 / root, l2, linf),
      linf: Math.min(l1 / size, l2 / root, linf),
    };
    const along = Math.sqrt(signedChanges(query) / size);
    if (delta === 0) {
      const one = Math.SQRT2 / epsilon * between("staircase-l1-pure", { ...query, size: 1 }) * along;
      if (size === 1) return { rmse: one, off: error("staircase-l1-pure") };
      const ball = Math.sqrt(size + 1) / epsilon * between("staircase-l2-pure", query);
      return { rmse: Math.max(one, ball * radiusOfVolume(size, radii)), off: error("staircase-l1-pure", "staircase-l2-pure") };
    }
    const width = sigma(epsilon, delta);
    const one = width * between("limit-of-one", { ...query, size: 1 }) * along;
    const largest = ADVISOR_GRID.limit.sizes.at(-1);
    const ball = size === 1 ? 0 : width * between("limit", { ...query, size: Math.min(size, largest) }) * radii.l2;
    return { rmse: Math.max(one, ball), off: error("limit", "limit-of-one") };
  };

  return { noises, limit, completed, sigma, trueDelta, trueEpsilon };
})();
