package collective

import (
	"context"
	"fmt"
	"time"

	"fulmen/daemon/api/worker"
	"fulmen/mlxbridge"
)

// Progress hears what is done now, and how much of all is done, 0 to 1.
type Progress func(stage string, ratio float64)

// Group is this rank's place in a group, with a stream of its own.
type Group struct {
	ctx    context.Context
	group  *mlxbridge.Group
	stream *mlxbridge.Stream
}

// Join forms the group that the environment describes (MLX_RANK with
// MLX_HOSTFILE or MLX_IBV_DEVICES). MLX itself waits without limit for the
// other ranks; wait is the limit here, after which the process must end, since
// the call that waits cannot be taken back.
func Join(ctx context.Context, backend string, wait time.Duration, least int) (*Group, error) {
	if backend != "any" && !mlxbridge.Available(backend) {
		return nil, &worker.Error{
			Reason:  worker.ReasonBackendUnavailable,
			Message: fmt.Sprintf("this build of MLX cannot use %s here", backend),
			Remedy:  "choose another -backend; fulmen-rank info lists them",
		}
	}
	device, err := mlxbridge.DefaultDevice()
	if err != nil {
		return nil, err
	}
	stream, err := mlxbridge.NewStream(device)
	if err != nil {
		return nil, err
	}
	type outcome struct {
		group *mlxbridge.Group
		err   error
	}
	joined := make(chan outcome, 1)
	go func() {
		group, err := mlxbridge.InitGroup(backend, true)
		joined <- outcome{group, err}
	}()
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-timer.C:
		return nil, &worker.Error{
			Reason:  worker.ReasonGroupInit,
			Message: fmt.Sprintf("not every rank had joined the group after %v", wait),
			Remedy:  "start all ranks, and see that each can reach the others' addresses",
			Stage:   "init",
		}
	case result := <-joined:
		if result.err != nil {
			return nil, &worker.Error{Reason: worker.ReasonGroupInit, Message: result.err.Error(), Stage: "init"}
		}
		g := &Group{ctx: ctx, group: result.group, stream: stream}
		if g.Size() < least {
			g.Close()
			return nil, &worker.Error{
				Reason:  worker.ReasonGroupTooSmall,
				Message: fmt.Sprintf("the group has %d rank, and this needs %d", result.group.Size(), least),
				Remedy:  "start it on more ranks",
			}
		}
		return g, nil
	}
}

// Rank is this process's number in the group, from 0.
func (g *Group) Rank() int { return g.group.Rank() }

// Size is the number of ranks.
func (g *Group) Size() int { return g.group.Size() }

// Close leaves the group, all of its work done.
func (g *Group) Close() {
	_ = g.stream.Synchronize()
	g.group.Close()
}

// barrier waits for all ranks, and ends where the command was asked to stop.
func (g *Group) barrier() error {
	if err := g.ctx.Err(); err != nil {
		return err
	}
	scope := mlxbridge.NewScope(g.stream)
	defer scope.Close()
	return scope.Barrier(g.group)
}

// slowest gives every rank the longest of all ranks' times.
func (g *Group) slowest(took time.Duration) (time.Duration, error) {
	scope := mlxbridge.NewScope(g.stream)
	defer scope.Close()
	// Microseconds in float32: exact to a part in ten million.
	mine, err := mlxbridge.FromSlice(scope, []float32{float32(took.Seconds() * 1e6)}, []int{1})
	if err != nil {
		return 0, err
	}
	all, err := scope.AllMax(g.group, mine)
	if err != nil {
		return 0, err
	}
	us, err := mlxbridge.Item[float32](all)
	return time.Duration(float64(us) * 1e3), err
}

// repeat does work count times and returns the mean time, that of the slowest
// rank. All ranks start together.
func (g *Group) repeat(count int, work func() error) (time.Duration, error) {
	if err := g.barrier(); err != nil {
		return 0, err
	}
	began := time.Now()
	for range count {
		if err := work(); err != nil {
			return 0, err
		}
	}
	took, err := g.slowest(time.Since(began))
	return took / time.Duration(count), err
}

// message makes an array of count elements of a type on a scope, and computes
// it.
func message(scope *mlxbridge.Scope, dtype mlxbridge.Dtype, count int, value func(i int) float32) (*mlxbridge.Array, error) {
	data := make([]float32, count)
	for i := range data {
		data[i] = value(i)
	}
	array, err := mlxbridge.FromSlice(scope, data, []int{count})
	if err != nil {
		return nil, err
	}
	if dtype != mlxbridge.Float32 {
		if array, err = scope.AsType(array, dtype); err != nil {
			return nil, err
		}
	}
	return array, scope.Eval(array)
}

// values reads an array's elements as float32.
func values(scope *mlxbridge.Scope, array *mlxbridge.Array) ([]float32, error) {
	if array.Dtype() != mlxbridge.Float32 {
		var err error
		if array, err = scope.AsType(array, mlxbridge.Float32); err != nil {
			return nil, err
		}
		defer array.Free()
	}
	return mlxbridge.ToSlice[float32](array)
}
