package collective

import (
	"time"

	"fulmen/daemon/api/worker"
	"fulmen/mlxbridge"
)

// The two ranks that exchange messages; the others wait.
const (
	first  = 0
	second = 1
)

// SendRecv measures messages between ranks 0 and 1 for every size.
func (g *Group) SendRecv(o Options, progress Progress) (worker.SendRecv, error) {
	result := worker.SendRecv{Backend: o.Backend, Rank: g.Rank(), Size: g.Size(), DType: o.DType}
	var err error
	if result.Rows, err = rows(o, progress, "send and receive", g.sendRecvRow); err != nil {
		return result, err
	}
	return result, wrongResult("send", result.Rows, func(r worker.SendRecvRow) (uint64, int) { return r.MessageBytes, r.WrongCount })
}

func (g *Group) sendRecvRow(o Options, bytes uint64) (worker.SendRecvRow, error) {
	scope := mlxbridge.NewScope(g.stream)
	defer scope.Close()
	dtype, err := mlxbridge.ParseDtype(o.DType)
	if err != nil {
		return worker.SendRecvRow{}, err
	}
	e := exchange{g: g, scope: scope, dtype: dtype, count: int(bytes / itemBytes(o.DType))}
	if e.mine, err = message(scope, dtype, e.count, func(i int) float32 { return element(g.Rank(), i) }); err != nil {
		return worker.SendRecvRow{}, err
	}
	result := worker.SendRecvRow{MessageBytes: bytes}
	if result.WrongCount, err = e.check(); err != nil {
		return result, err
	}
	// How often follows from the round trip of the slowest rank, so that all
	// ranks agree on it.
	guess, err := g.repeat(warmUpRuns, e.roundTrip)
	if err != nil {
		return result, err
	}
	result.Runs = runs(guess, o.PerSize/3)
	if result.RTTUS, result.JitterUS, err = e.rtt(result.Runs); err != nil {
		return result, err
	}
	if result.UpBytesPerS, err = e.rate(first, second, result.Runs); err != nil {
		return result, err
	}
	result.DownBytesPerS, err = e.rate(second, first, result.Runs)
	return result, err
}

// exchange is the traffic of one size between the two ranks.
type exchange struct {
	g     *Group
	scope *mlxbridge.Scope
	dtype mlxbridge.Dtype
	count int
	mine  *mlxbridge.Array
}

// move carries a message from one rank to another; other ranks do nothing.
// The receiver gets the array, which it frees.
func (e *exchange) move(from, to int) (*mlxbridge.Array, error) {
	var array *mlxbridge.Array
	var err error
	switch e.g.Rank() {
	case from:
		array, err = e.scope.Send(e.g.group, e.mine, to)
	case to:
		array, err = e.scope.Recv(e.g.group, []int{e.count}, e.dtype, from)
	default:
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	err = e.scope.Eval(array)
	if err != nil || e.g.Rank() == from {
		array.Free()
		return nil, err
	}
	return array, nil
}

// roundTrip carries a message there and back.
func (e *exchange) roundTrip() error {
	for _, way := range [][2]int{{first, second}, {second, first}} {
		array, err := e.move(way[0], way[1])
		if err != nil {
			return err
		}
		if array != nil {
			array.Free()
		}
	}
	return nil
}

// check counts the wrong elements of a message each way, as this rank got it.
func (e *exchange) check() (int, error) {
	count := 0
	for _, way := range [][2]int{{first, second}, {second, first}} {
		array, err := e.move(way[0], way[1])
		if err != nil {
			return 0, err
		}
		if array == nil {
			continue
		}
		got, err := values(e.scope, array)
		array.Free()
		if err != nil {
			return 0, err
		}
		count += wrong(got, func(i int) float32 { return element(way[0], i) })
	}
	return count, nil
}

// rtt is the median time of a round trip, and the mean difference of consecutive
// ones, in microseconds, as rank 0 sees them.
func (e *exchange) rtt(count int) (median, jitter float64, err error) {
	if err := e.g.barrier(); err != nil {
		return 0, 0, err
	}
	var times []time.Duration
	for range count {
		began := time.Now()
		if err := e.roundTrip(); err != nil {
			return 0, 0, err
		}
		times = append(times, time.Since(began))
	}
	var middle, mean time.Duration
	if e.g.Rank() == first {
		middle, mean = summary(times)
	}
	if middle, err = e.g.slowest(middle); err != nil {
		return 0, 0, err
	}
	mean, err = e.g.slowest(mean)
	return float64(middle) / 1e3, float64(mean) / 1e3, err
}

// rate is the rate from one rank to another in bytes per second, timed by the
// receiver from its first message to its last.
func (e *exchange) rate(from, to, count int) (float64, error) {
	if err := e.g.barrier(); err != nil {
		return 0, err
	}
	var began time.Time
	for i := range count + 1 {
		array, err := e.move(from, to)
		if err != nil {
			return 0, err
		}
		if array != nil {
			array.Free()
		}
		if i == 0 { // the wait for the sender is not the link's
			began = time.Now()
		}
	}
	var mine time.Duration
	if e.g.Rank() == to {
		mine = time.Since(began)
	}
	took, err := e.g.slowest(mine)
	if err != nil || took <= 0 {
		return 0, err
	}
	return float64(count) * float64(e.count*e.dtype.Size()) / took.Seconds(), nil
}
