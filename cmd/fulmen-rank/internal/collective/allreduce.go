package collective

import (
	"fmt"
	"time"

	"fulmen/daemon/api/worker"
	"fulmen/mlxbridge"
)

// AllReduce measures all_sum for every size of message.
func (g *Group) AllReduce(o Options, progress Progress) (worker.AllReduce, error) {
	result := worker.AllReduce{Backend: o.Backend, Rank: g.Rank(), Size: g.Size(), DType: o.DType}
	var err error
	if result.Rows, err = rows(o, progress, "all_sum", g.allReduceRow); err != nil {
		return result, err
	}
	return result, wrongResult("all_sum", result.Rows, func(r worker.AllReduceRow) (uint64, int) { return r.MessageBytes, r.WrongCount })
}

// rows measures every size; with an error, those before it.
func rows[R any](o Options, progress Progress, what string, row func(o Options, bytes uint64) (R, error)) ([]R, error) {
	var all []R
	sizes := o.sizes()
	for i, bytes := range sizes {
		progress(fmt.Sprintf("%s, %d bytes", what, bytes), float64(i)/float64(len(sizes)))
		r, err := row(o, bytes)
		if err != nil {
			return all, fmt.Errorf("%s of %d bytes: %w", what, bytes, err)
		}
		all = append(all, r)
	}
	return all, nil
}

func (g *Group) allReduceRow(o Options, bytes uint64) (worker.AllReduceRow, error) {
	scope := mlxbridge.NewScope(g.stream)
	defer scope.Close()
	dtype, err := mlxbridge.ParseDtype(o.DType)
	if err != nil {
		return worker.AllReduceRow{}, err
	}
	mine, err := message(scope, dtype, int(bytes/itemBytes(o.DType)), func(i int) float32 { return element(g.Rank(), i) })
	if err != nil {
		return worker.AllReduceRow{}, err
	}
	bad, err := g.checkSum(scope, mine)
	if err != nil {
		return worker.AllReduceRow{}, err
	}
	once := func() error {
		sum, err := scope.AllSum(g.group, mine)
		if err != nil {
			return err
		}
		defer sum.Free()
		return scope.Eval(sum)
	}
	count, mean, err := g.time(o.PerSize, once)
	return row(bytes, g.Size(), count, mean, bad), err
}

// checkSum computes a sum once and counts its wrong elements.
func (g *Group) checkSum(scope *mlxbridge.Scope, mine *mlxbridge.Array) (int, error) {
	sum, err := scope.AllSum(g.group, mine)
	if err != nil {
		return 0, err
	}
	defer sum.Free()
	got, err := values(scope, sum)
	if err != nil {
		return 0, err
	}
	return wrong(got, func(i int) float32 { return reduced(g.Size(), i) }), nil
}

// time warms work up, then repeats it for about budget, and gives how often
// and the mean time of the slowest rank.
func (g *Group) time(budget time.Duration, work func() error) (int, time.Duration, error) {
	guess, err := g.repeat(warmUpRuns, work)
	if err != nil {
		return 0, 0, err
	}
	count := runs(guess, budget)
	mean, err := g.repeat(count, work)
	return count, mean, err
}

// wrongResult is the error of a table with wrong values in it: a number for
// speed is worth nothing where the data is wrong.
func wrongResult[R any](what string, rows []R, of func(R) (bytes uint64, wrong int)) error {
	for _, r := range rows {
		if bytes, count := of(r); count > 0 {
			return &worker.Error{
				Reason:  worker.ReasonWrongResult,
				Message: fmt.Sprintf("%s of %d bytes gave %d wrong elements on this rank", what, bytes, count),
				Remedy:  "run it again over -backend ring: where that is right, suspect the link or its cable",
			}
		}
	}
	return nil
}
