package carry

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/rank/files/wire"
	"fulmen/daemon/internal/rank/prepare/account"
	"fulmen/native"
)

// Serve carries between a sending process, for which one of places is free, and the
// connection of whoever asked for it. task says as whom it runs and what it is to do, or why
// there is nothing: that is sent on, an *api.Error as it is, any other as of the reason. what
// is waited for where nothing moves.
func (c Carrier) Serve(ctx context.Context, conn io.ReadWriteCloser, what string, reason api.Reason, places chan struct{}, command string, task func(context.Context) (account.Account, any, error)) error {
	ctx, watch, stop := c.watching(ctx, what)
	defer stop()
	defer context.AfterFunc(ctx, func() { conn.Close() })()
	var p *Process
	who, job, err := task(ctx)
	if err == nil {
		err = Turn(ctx, places)
	}
	if err == nil {
		defer func() { <-places }()
		p, err = c.Start(ctx, who, command, wire.Task, job)
	}
	if err != nil {
		known, ok := errors.AsType[*api.Error](err)
		if !ok {
			known = api.NewError(reason, "")
		}
		wire.NewConn(nil, conn).Refuse(known)
		return err
	}
	go func() {
		_ = watch.carry(p.in, conn)
		p.in.Close()
		native.Pause(ctx, c.Clock, goneWithin)
		watch.cancel(errGone) // it may wait for something else, and keep its place
	}()
	carried := watch.carry(conn, p.out)
	// It has said all that it will; the receiver closes first, when it has thanked.
	if carried != nil {
		conn.Close()
	}
	if err := errors.Join(carried, c.reap(p)); err != nil {
		return cmp.Or(context.Cause(ctx), err)
	}
	return nil
}

// goneWithin is how long a sending process has to end once whoever asked has gone, or has
// thanked it.
const goneWithin = time.Second

var errGone = errors.New("whoever asked for it has gone")

// Turn waits for a place among processes.
func Turn(ctx context.Context, places chan<- struct{}) error {
	select {
	case places <- struct{}{}:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Fetch starts a receiving process, and when it is ready the connection that dial opens,
// and carries between the two until the process reports that all is in place: its last
// report. follow hears of those before. what is waited for where nothing moves.
func (c Carrier) Fetch(ctx context.Context, who account.Account, command string, task any, what string, dial func(context.Context) (io.ReadWriteCloser, error), follow func(wire.Report)) (wire.Report, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	p, err := c.Start(ctx, who, command, wire.Task, task)
	if err != nil {
		return wire.Report{}, err
	}
	last, err := c.receive(ctx, cancel, p, what, dial, follow)
	if err != nil {
		cancel(err) // it is to end, whatever it does
	}
	waited := c.End(p)
	return last, cmp.Or(err, waited)
}

func (c Carrier) receive(outer context.Context, cancel context.CancelCauseFunc, p *Process, what string, dial func(context.Context) (io.ReadWriteCloser, error), follow func(wire.Report)) (wire.Report, error) {
	if report, err := p.Next(outer); err != nil || report.State != wire.ReportReady {
		return report, cmp.Or(err, outOfTurn(report))
	}
	ctx, watch, stop := c.watching(outer, what)
	defer stop()
	conn, err := dial(ctx)
	if err != nil {
		return wire.Report{}, cmp.Or(context.Cause(ctx), err)
	}
	defer conn.Close()
	// Whatever ends this ends the process, and so the reading of its reports.
	defer context.AfterFunc(ctx, func() {
		cancel(context.Cause(ctx))
		conn.Close()
	})()
	arrived, went := make(chan struct{}), make(chan struct{})
	go func() {
		_ = watch.carry(p.in, conn)
		p.in.Close()
		close(arrived)
	}()
	go func() {
		_ = watch.carry(conn, p.out)
		close(went)
	}()
	defer func() {
		conn.Close()
		p.out.Close()
		<-arrived
		<-went
	}()
	for {
		report, err := p.Next(ctx)
		switch {
		case err != nil:
			return report, err
		case report.State == wire.ReportDone:
			select { // its thanks are on their way
			case <-went:
			case <-ctx.Done():
			}
			return report, nil
		case report.State != wire.ReportProgress:
			return report, outOfTurn(report)
		}
		watch.moved()
		follow(report)
	}
}

func outOfTurn(report wire.Report) error {
	return fmt.Errorf("the receiving process said %q out of turn", report.State)
}

// Do has a process do what needs no other Mac, up to its last report; follow, where it is not
// nil, hears of those before.
func (c Carrier) Do(ctx context.Context, who account.Account, command string, kind wire.Kind, task any, what string, follow func(wire.Report)) (report wire.Report, err error) {
	ctx, watch, stop := c.watching(ctx, what)
	defer stop()
	p, err := c.Start(ctx, who, command, kind, task)
	if err != nil {
		return report, err
	}
	for report, err = p.Next(ctx); err == nil && report.State == wire.ReportProgress; report, err = p.Next(ctx) {
		watch.moved()
		if follow != nil {
			follow(report)
		}
	}
	return report, cmp.Or(err, c.End(p))
}
