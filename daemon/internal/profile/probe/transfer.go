package probe

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
)

// transfer is one direction of a measurement, at the measuring end.
type transfer struct {
	*asking
	way     purpose
	meter   *meter
	streams streams
	opened  int
	paces   chan pace
	over    chan struct{} // closed when counts are wanted no more

	counter counter      // down: what came
	written atomic.Int64 // up: what was written
}

// transfer measures a direction; done is the part of all that was behind before.
func (m *asking) transfer(way purpose, p plan, done float64) (*int64, error) {
	t := &transfer{asking: m, way: way, meter: newMeter(p), paces: make(chan pace, 64), over: make(chan struct{})}
	defer t.streams.close()
	t.counter.clock, t.counter.notify = m.prober.cfg.Clock, t.arrived
	if err := t.use(p.streams, done); err != nil {
		close(t.over)
		return nil, err
	}
	var listening sync.WaitGroup
	var total int64
	var failed error
	if way == forUp {
		listening.Go(func() { total, failed = t.listen() })
	}
	err := t.measure(done)
	close(t.over)
	t.streams.close() // before the peer closes them, which would be a fault
	if err == nil {
		err = m.control.report(message{Kind: kindStop, Way: way})
	}
	if err != nil {
		m.cancel(err) // who listens must end
	}
	if way == forDown && err == nil {
		total, failed = t.listen()
	}
	listening.Wait()
	moved := t.counter.total.Load() + t.written.Load()
	m.result.MovedBytes += moved
	if err = cmp.Or(err, failed); err != nil {
		return nil, err
	}
	received, sent := total, moved
	if way == forDown {
		received, sent = moved, total
	}
	if received > sent {
		return nil, m.implausible(fmt.Sprintf("%d bytes came, and %d were sent", received, sent))
	}
	used := &m.result.UpStreams
	if way == forDown {
		used = &m.result.DownStreams
	}
	*used = t.meter.streams
	m.result.Streams = max(m.result.UpStreams, m.result.DownStreams)
	result := t.meter.result()
	return &result, nil
}

// use brings the number of connections up to n.
func (t *transfer) use(n int, done float64) error {
	t.notify(fmt.Sprintf("%s, %s", t.way, connections(n)), done)
	for t.opened < n {
		conn, err := t.open(t.way, t.opened)
		if err != nil {
			return err
		}
		t.opened++
		work := drain(func(n int) {
			t.seen.Add(1)
			t.counter.add(n)
		})
		if t.way == forUp {
			work = fill(t.noise, func(n int) { t.written.Add(int64(n)) })
		}
		t.streams.run(conn, work, func(err error) { t.cancel(cmp.Or(context.Cause(t.ctx), error(t.fault(err)))) })
	}
	return nil
}

// connections is their number in words.
func connections(n int) string {
	if n == 1 {
		return "1 connection"
	}
	return fmt.Sprintf("%d connections", n)
}

// arrived is told what was received here.
func (t *transfer) arrived(c count) { t.pass(pace{count: c, arrived: c.at, written: c.bytes}) }

// pass gives a count to measure.
func (t *transfer) pass(p pace) {
	select {
	case t.paces <- p:
	case <-t.over:
	case <-t.ctx.Done():
	}
}

// isOver reports whether counts are wanted no more.
func (t *transfer) isOver() bool {
	select {
	case <-t.over:
		return true
	default:
		return false
	}
}

// listen hears the peer's counts until its total.
func (t *transfer) listen() (total int64, err error) {
	for {
		var w message
		if err := t.control.receive(&w); err != nil {
			if !errors.Is(err, net.ErrClosed) {
				t.cancel(t.fault(err))
			}
			return 0, err
		}
		switch {
		case w.Kind == kindTotal && t.isOver():
			return w.Bytes, nil
		case w.Kind == kindCount && t.way == forUp:
			t.pass(pace{count: w.count(), arrived: t.prober.cfg.Clock.Boot(), written: t.written.Load(), newest: t.control.in.Buffered() == 0})
		default:
			t.cancel(t.fault(errFrame))
			return 0, errFrame
		}
	}
}

// measure follows the counts until the meter has its result.
func (t *transfer) measure(done float64) error {
	var w witness
	var from pace
	for {
		var p pace
		select {
		case <-t.ctx.Done():
			return context.Cause(t.ctx)
		case p = <-t.paces:
		}
		if why := w.see(p); why != "" {
			return t.implausible(why)
		}
		next := t.meter.add(p.count)
		if p.count == t.meter.from {
			from = p
		}
		switch next {
		case stepMore:
			if err := t.use(t.meter.streams, done); err != nil {
				return err
			}
		case stepFewer:
			t.streams.keep(t.meter.streams)
		case stepDone:
			if why := w.agrees(from, p, t.meter.streams); why != "" {
				return t.unstable(why)
			}
			return nil
		}
	}
}
