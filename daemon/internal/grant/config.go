package grant

import (
	"time"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/ledger"
	"fulmen/native"
)

// Policy is what this node's owner lends to whom. It returns at once and does
// not call back.
type Policy interface {
	// Allows says whether a principal's job may run here now; the reason is empty
	// where it may. The account is the one under which it would run, and stays on this node.
	Allows(p api.Principal) (account string, reason api.Reason)
}

// Capacity is what there is to lend.
type Capacity struct {
	// WorkingSetBytes is the largest working set that the GPU recommends; absent where not known.
	WorkingSetBytes *int64
	// OthersMaxBytes is the most that people of other nodes get together; absent = no bound of its own.
	OthersMaxBytes *int64
}

// Config is what an arbiter needs. Readers return at once and do not call back.
type Config struct {
	// Self is this node: its own people's memory is not lent, and not bounded.
	Self api.NodeID
	// Clock is what leases and deadlines run on.
	Clock native.Clock
	// Documents takes the grant documents.
	Documents ledger.Publisher
	// Policy says who may have something; it is not asked for measurements.
	Policy Policy
	// Capacity reads what there is.
	Capacity func() Capacity
	// GPUUse reads how much of the GPU is used, 0 to 1, and whether that is known.
	// It counts only while nothing of the GPU is lent: it is then other programs' use.
	GPUUse func() (ratio float64, known bool)
	// GPUWait reads how long a job waits for other programs at most; then it is lent
	// the GPU beside them, with that as the grant's reason. Measurements wait on.
	GPUWait func() time.Duration
	// WatchGPU, where set, is told when somebody waits for the GPU to become idle,
	// and when nobody does any more, so that its use is read only meanwhile. It is
	// called in order, and must not wait.
	WatchGPU func(on bool)
	// Lease is how long a grant holds unrenewed where the request does not say.
	Lease time.Duration
}

// Request is what somebody wants.
type Request struct {
	// Holder is for what.
	Holder Holder
	// Epoch is the home's; 0 for a measurement.
	Epoch uint64
	// Principal is the person whose job it is; none for a measurement.
	Principal api.Principal
	// GPU is how the GPU is wanted.
	GPU api.GPUShare
	// MemoryBytes is what is wanted of the working set.
	MemoryBytes int64
	// PortNumbers are those whose RDMA device is wanted.
	PortNumbers []api.PortNumber
	// Wait is how long to stand in line; 0 = answer at once.
	Wait time.Duration
	// Lease is how long it holds unrenewed; 0 = as configured.
	Lease time.Duration
}

// RequestOf takes a request from the wire.
func RequestOf(p api.PeerGrantParams) (Request, error) {
	h, err := ParseHolder(p.Holder)
	if err != nil {
		return Request{}, err
	}
	r := Request{Holder: h, Epoch: p.Epoch, Principal: p.Principal, GPU: p.GPU, MemoryBytes: p.MemoryBytes,
		PortNumbers: p.PortNumbers, Wait: seconds(p.WaitS)}
	return r, r.check()
}

// maxWait bounds how long one request stands in line.
const maxWait = 24 * time.Hour

func seconds(s float64) time.Duration {
	if !(s > 0) {
		return 0
	}
	return time.Duration(min(s, maxWait.Seconds()) * float64(time.Second))
}

func (r Request) check() error {
	switch {
	case !r.Holder.Valid():
		return api.Errorf(api.ReasonBadValue, "holder", "%q is neither a rank nor a measurement.", r.Holder)
	case !r.GPU.Valid():
		return api.Errorf(api.ReasonBadValue, "gpu", "%q is not a way to get a GPU.", r.GPU)
	case r.MemoryBytes < 0:
		return api.Errorf(api.ReasonBadValue, "memory_bytes", "The memory wanted is negative.")
	}
	for _, p := range r.PortNumbers {
		if p < 1 || p > api.MaxPortNumber {
			return api.Errorf(api.ReasonBadValue, "receptacles", "There is no port %d.", p)
		}
	}
	return nil
}
