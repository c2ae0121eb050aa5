// Types of concord.js, the JavaScript API of Concord. docs/api.md says what everything means.

/** Loads the module. `align` and `apply` do it by themselves; calling it early only saves time. */
export default function init(): Promise<void>;

/** Finds which rows of two tables belong together, though they share no columns and no known pairs. */
export function align(x: Side, y: Side, options?: Options, onProgress?: OnProgress): Promise<Result>;

/** Matches other rows by the model of an earlier alignment, without training. */
export function apply(
  model: Uint8Array,
  x: Side,
  y: Side,
  options?: ApplyOptions,
  onProgress?: OnProgress,
): Promise<Result>;

export type Numbers =
  | readonly number[]
  | Float32Array
  | Float64Array
  | Int8Array
  | Uint8Array
  | Uint8ClampedArray
  | Int16Array
  | Uint16Array
  | Int32Array
  | Uint32Array;

/** A data set: all its numbers row by row with its shape, or an array of rows. */
export type Side = Table | readonly Numbers[];

export interface Table {
  data: Numbers;
  rows: number;
  cols: number;
  /** One a row, `null` where there is none: for scores only. */
  labels?: readonly (string | number | null | undefined)[] | null;
}

/** Row of x, row of y, both counted from 0. */
export type Pair = readonly [number, number];

export type Distance =
  | ""
  | "cosine"
  | "centred"
  | "standardised"
  | "correlation"
  | "euclidean"
  | "squared-euclidean"
  | "geodesic";

export interface ApplyOptions {
  /** What computes: a graphics device if there is a good one, unless told otherwise. */
  executor?: "auto" | "cpu" | "gpu";
  /** Ends the call; its promise is rejected with the signal's reason, an `AbortError`. */
  signal?: AbortSignal | null;
  /** Pairs that are known to be right, for scores only. */
  true_pairs?: readonly Pair[] | null;
}

export interface Options extends ApplyOptions {
  /** Rows that are known to belong together; training uses them. */
  known_pairs?: readonly Pair[] | null;
  encoder?: "both" | "mlp" | "linear";
  loss?: "rank-gw" | "classic" | "frobenius" | "soft-rank";
  distance_x?: Distance;
  distance_y?: Distance;
  sample?: number;
  all_points?: boolean;
  steps?: number;
  fits?: number;
  redraw?: number | null;
  hidden?: number;
  embedding?: number;
  activation?: "relu" | "leaky-relu" | "elu" | "tanh";
  cost?: "sqm" | "cosine";
  rate?: number;
  eps_start?: number;
  eps_end?: number;
  annealing?: "exponential" | "linear" | "constant";
  sinkhorn?: number;
  conjugate?: number;
  neighbours?: "auto" | "exact" | "approximate";
  dirichlet?: number;
  fused?: number;
  pairs?: number;
  eps?: number;
  marginals?: "relaxed" | "relaxed-all" | "strict-x" | "strict-y" | "strict";
  groups?: "auto" | "try" | "off";
  seed?: number;
}

export interface Progress {
  phase: string;
  /** Of the phase. */
  done: number;
  total: number;
  /** Of the whole call, from 0 to 1. */
  share: number;
}

export type OnProgress = ((progress: Progress) => void) | null;

export interface Matches {
  /** The best partner of every row. */
  matches: Uint32Array;
  /** How sure the match is, from 0 to 1: the share of fresh fits that agree, times the mass kept; empty where not measured. */
  confidence: Float32Array;
  /** The part of the row's mass that its match gets, from 0 to 1. */
  share: Float32Array;
  /** How much each row keeps of its weight, 1 on average; empty with `marginals: "strict"`. */
  retained: Float32Array;
  /** 1 for a row without a partner; empty with `marginals: "strict"`. */
  noPartner: Uint8Array;
}

export interface Score {
  value: number;
  /** What it would be if nothing were known. */
  chance: number;
  lowerIsBetter: boolean;
  name: string;
  about: string;
}

export type ScoreName =
  | "spearman"
  | "gw-loss"
  | "entropy"
  | "marginal-error"
  | "foscttm"
  | "foscttm-xy"
  | "foscttm-yx"
  | "exact-match"
  | "label-transfer"
  | "label-transfer-xy"
  | "label-transfer-yx"
  | "exactness";

export interface Candidate {
  encoder: string;
  origin: string;
  score: number;
  /** Of linear maps: the scores by which they are compared. */
  nuclear_norm: number | null;
  third_moment: number | null;
  /** Whether it is clearly different from the chosen one and fits about as well. */
  alternative: boolean;
  difference: number;
}

export interface Finding {
  what: string;
  fix: string;
  serious: boolean;
}

/** The matches of the rows of x, and everything else that is known. */
export interface Result extends Matches {
  /** The matches of the rows of y. */
  reverse: Matches;
  /** The strongest partners of every row of x, `cols` a row, strongest first; 4294967295 where there are fewer. */
  top: { cols: number; rows: Uint32Array; shares: Float32Array };
  /** Both sides in the common space, `cols` numbers a row, and where the plan sends the rows of x there. */
  embedding: { cols: number; x: Float32Array; y: Float32Array; projected: Float32Array };
  /** Both sides as points in the plane, two numbers a row: x where the plan sends it among y. */
  plane: { x: Float32Array; y: Float32Array };
  scores: { [name in ScoreName]?: Score };
  /** All alignments that were found, best first; empty after `apply`. */
  candidates: Candidate[];
  /** The candidate that this is. */
  chosen: number;
  /** A clearly different candidate that is nearly as good. */
  rival: number | null;
  /** How far the chosen map's nuclear norm is above that of the best clearly different one; `null` without one. */
  margin: number | null;
  /** What is worth knowing about this result. */
  findings: Finding[];
  /** What speaks for it, in a sentence. */
  verdict: string | null;
  executor: "cpu" | "gpu";
  seconds: { total: number; train: number; infer: number };
  /** The encoders as a safetensors file: for `apply`, or to be saved. */
  model: Uint8Array;
}
