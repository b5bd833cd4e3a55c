package worker

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
