package worker

// GPU is the result of [CommandGPU]: how fast one device computes, and how
// fast it reads its memory.
type GPU struct {
	Device     Device `json:"device"`
	MLXVersion string `json:"mlx_version"`
	// BLAS is set where the device is a CPU.
	BLAS *BLAS `json:"blas,omitempty"`
	// MatMul has a row per data type: products of square matrices.
	MatMul []MatMul `json:"matmul"`
	// Bandwidth has a row per data type: sums over a buffer well past the
	// caches.
	Bandwidth []Bandwidth `json:"bandwidth"`
	ElapsedS  float64     `json:"elapsed_s"`
}

// Timing is how often a thing was timed, and how much the times differed.
type Timing struct {
	// WarmUpS is how long the device ran before the clock was taken, in
	// seconds.
	WarmUpS float64 `json:"warm_up_s"`
	// Settled is false where speed was still changing when warm-up had to
	// end.
	Settled bool `json:"settled"`
	// Runs is the number of timed runs, of which the best counts.
	Runs int `json:"runs"`
	// BestS and MedianS are the best and the median run, in seconds.
	BestS   float64 `json:"best_s"`
	MedianS float64 `json:"median_s"`
	// SpreadRatio is (median - best) / best: 0 where all runs agree.
	SpreadRatio float64 `json:"spread_ratio"`
}

// MatMul is one measurement of a product of two N by N matrices, which is
// counted as 2 N^3 operations.
type MatMul struct {
	// DType is float16, bfloat16 or float32.
	DType string `json:"dtype"`
	N     int    `json:"n"`
	// SpeedTFLOPS is 10^12 operations per second of the best run.
	SpeedTFLOPS float64 `json:"speed_tflops"`
	Timing
}

// Bandwidth is one measurement of how fast a device reads memory: a sum over
// zeros.
type Bandwidth struct {
	// DType is float16 or float32.
	DType string `json:"dtype"`
	// BufferBytes is the size of the buffer that is read once a run.
	BufferBytes uint64 `json:"buffer_bytes"`
	// ReadBytesPerS is the buffer's size over the best run's time.
	ReadBytesPerS float64 `json:"read_bytes_per_s"`
	Timing
}

// AllReduce is the result of [CommandAllReduce]: all_sum by message size.
type AllReduce struct {
	Backend string `json:"backend"`
	Rank    int    `json:"rank"`
	Size    int    `json:"size"`
	DType   string `json:"dtype"`
	// Rows are in rising order of size.
	Rows []AllReduceRow `json:"rows"`
}

// AllReduceRow is one message size. The bandwidths are those of nccl-tests:
// the algorithm's is the message's size over the time; the bus's is that
// times 2 (size - 1) / size, which does not depend on the number of ranks and
// can be compared with the link's speed.
type AllReduceRow struct {
	MessageBytes uint64 `json:"message_bytes"`
	Runs         int    `json:"runs"`
	// TimeUS is the mean time of a run, of the slowest rank, in
	// microseconds.
	TimeUS       float64 `json:"time_us"`
	AlgBytesPerS float64 `json:"alg_bytes_per_s"`
	BusBytesPerS float64 `json:"bus_bytes_per_s"`
	// WrongCount is the number of elements that were not what they must be.
	WrongCount int `json:"wrong_count"`
}

// SendRecv is the result of [CommandSendRecv]: messages between ranks 0 and 1.
type SendRecv struct {
	Backend string        `json:"backend"`
	Rank    int           `json:"rank"`
	Size    int           `json:"size"`
	DType   string        `json:"dtype"`
	Rows    []SendRecvRow `json:"rows"`
}

// SendRecvRow is one message size.
type SendRecvRow struct {
	MessageBytes uint64 `json:"message_bytes"`
	Runs         int    `json:"runs"`
	// RTTUS is the median time of a message there and back, in
	// microseconds.
	RTTUS float64 `json:"rtt_us"`
	// JitterUS is the mean difference of consecutive round trips, in
	// microseconds.
	JitterUS float64 `json:"jitter_us"`
	// UpBytesPerS is the rate from rank 0 to rank 1, DownBytesPerS the rate
	// back, timed by the receiver.
	UpBytesPerS   float64 `json:"up_bytes_per_s"`
	DownBytesPerS float64 `json:"down_bytes_per_s"`
	WrongCount    int     `json:"wrong_count"`
}
