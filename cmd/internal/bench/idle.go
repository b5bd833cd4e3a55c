package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"syscall"
	"time"

	"github.com/prometheus/procfs"

	"fulmen/daemon/api"
	"fulmen/daemon/client"
)

// idleFor is how long an idle daemon is looked at.
const idleFor = time.Minute

// usage is what a process used since its start, as /proc tells.
type usage struct {
	cpu      time.Duration
	switches int // voluntary, of all threads
	written  int // bytes to disk
	children int // page faults of children that it waited for: 0 where there were none
	own      int // bytes in memory that no file holds, now: what Activity Monitor shows of a process
	sent     int // bytes on a cluster's LAN
}

// spent is what a process used in some time.
type spent struct {
	before, after usage
	took          time.Duration
}

func (s spent) perSecond(before, after int) float64 { return float64(after-before) / s.took.Seconds() }

// cpu is in percent of a core.
func (s spent) cpu() float64 { return (s.after.cpu - s.before.cpu).Seconds() / s.took.Seconds() * 100 }

// memory is what only the process has at the end, in MB.
func (s spent) memory() float64 { return float64(s.after.own) / 1e6 }

// wakeUps are voluntary switches a second.
func (s spent) wakeUps() float64 { return s.perSecond(s.before.switches, s.after.switches) }

// traffic is sent, in kB a second.
func (s spent) traffic() float64 { return s.perSecond(s.before.sent, s.after.sent) / 1e3 }

// idle measures what a daemon costs that nobody watches.
func (b *run) idle(folder string) error {
	if runtime.GOOS != "linux" {
		return errNotMeasured("the cost of an idle daemon is read from /proc, which this system has not")
	}
	process, stop, err := b.fulmend(folder)
	if err != nil {
		return err
	}
	defer stop()
	if err := settled(b.ctx, filepath.Join(folder, "run", api.SocketFile)); err != nil {
		return err
	}
	if err := b.status(folder); err != nil {
		return err
	}
	began := time.Now()
	before, err := usageOf(process.Process.Pid)
	if err != nil {
		return err
	}
	b.report(fmt.Sprintf("an idle daemon, for %v", idleFor))
	if err := b.wait(idleFor); err != nil {
		return err
	}
	after, err := usageOf(process.Process.Pid)
	if err != nil {
		return err
	}
	s := spent{before, after, time.Since(began)}
	add := func(name string, value float64, unit string, goal float64) {
		row := newRow(name, Exactly(value), unit, Lower, &goal, "", fmt.Sprintf("/proc over %v, nobody watches", s.took.Round(time.Second)))
		b.rows = append(b.rows, row)
	}
	add("idle daemon, CPU", s.cpu(), "% of a core", 0.05)
	add("idle daemon, memory", s.memory(), "MB of its own", 25)
	add("idle daemon, wake-ups", s.wakeUps(), "voluntary switches/s", 3)
	add("idle daemon, processes", float64(after.children-before.children), "faults of children", 0)
	add("idle daemon, disk", float64(after.written-before.written), "bytes written", 0)
	return nil
}

// status measures fulmen status, the start of the program included, in
// milliseconds.
func (b *run) status(folder string) error {
	var times []float64
	return b.sample("fulmen status", 31, b.left()/4, func(int) error {
		took, err := startTime(b.ctx, []string{api.EnvHome + "=" + folder}, filepath.Join(filepath.Dir(b.worker), "fulmen"), "status")
		if err == nil {
			times = append(times, took*1e3)
		}
		return err
	}, func() []Row {
		return []Row{newRow("fulmen status", Median(times), "ms", Lower, new(30.0), "", "from the start of the program to its end")}
	})
}

// fulmend starts the daemon in a folder, and gives what stops it in order.
func (b *run) fulmend(folder string) (*exec.Cmd, func(), error) {
	process := exec.CommandContext(b.ctx, filepath.Join(filepath.Dir(b.worker), "fulmend"), "-quiet")
	process.Env = append(os.Environ(), api.EnvHome+"="+folder)
	if err := process.Start(); err != nil {
		return nil, nil, fmt.Errorf("fulmend: %w; run make build", err)
	}
	return process, func() {
		_ = process.Process.Signal(syscall.SIGTERM)
		_ = process.Wait()
	}, nil
}

// daemonStart measures the time from the daemon's start to this machine's name
// and memory at a client, in milliseconds.
func (b *run) daemonStart(folder string) error {
	var times []float64
	return b.sample("start of the daemon", 15, b.left()/4, func(int) error {
		began := time.Now()
		_, stop, err := b.fulmend(folder)
		if err != nil {
			return err
		}
		err = await(b.ctx, filepath.Join(folder, "run", api.SocketFile), func(view *client.View) bool {
			name, memory := false, false
			for _, document := range view.Docs() {
				name = name || document.Kind == api.KindIdentity
				memory = memory || document.Kind == api.KindMemory
			}
			return name && memory
		})
		if err == nil {
			times = append(times, float64(time.Since(began))/1e6)
		}
		stop()
		return err
	}, func() []Row {
		return []Row{newRow("start of the daemon to name and memory at a client", Median(times), "ms", Lower, new(300.0), "", "a client that tries every 5 ms")}
	})
}

// settled waits until a daemon has told everything that it tells at its start.
func settled(ctx context.Context, socket string) error {
	return await(ctx, socket, func(view *client.View) bool {
		for _, document := range view.Docs() {
			if document.Kind == api.KindIdentity {
				return document.Unknown["mlx_version"] != api.ReasonNotYetRead
			}
		}
		return false
	})
}

// await connects to a daemon that starts, and waits until what it tells fits.
func await(ctx context.Context, socket string, fits func(*client.View) bool) error {
	ctx, cancel := context.WithTimeoutCause(ctx, readyDeadline, fmt.Errorf("the daemon did not tell what it must in %v", readyDeadline))
	defer cancel()
	for ctx.Err() == nil {
		c, err := client.Dial(ctx, client.Options{Addresses: []client.Address{{Socket: socket}}, Timeout: time.Second})
		if err != nil {
			time.Sleep(5 * time.Millisecond)
			continue
		}
		defer c.Close()
		var view client.View
		for event, err := range c.Watch(ctx, api.StateSelect{Kinds: []api.Kind{api.KindIdentity, api.KindMemory}}) {
			if err != nil {
				return err
			}
			if view.Apply(event); fits(&view) {
				return nil
			}
		}
	}
	return context.Cause(ctx)
}

// usageOf reads /proc.
func usageOf(pid int) (u usage, err error) {
	process, err := procfs.NewProc(pid)
	if err != nil {
		return u, err
	}
	stat, err := process.Stat()
	if err != nil {
		return u, err
	}
	status, err := process.NewStatus()
	if err != nil {
		return u, err
	}
	u.children, u.own = int(stat.CMinFlt), int(status.RssAnon)
	threads, err := procfs.AllThreads(pid)
	if err != nil {
		return u, err
	}
	for _, thread := range threads {
		status, err := thread.NewStatus()
		if err != nil {
			continue // the thread has ended
		}
		u.switches += int(status.VoluntaryCtxtSwitches)
		times, err := thread.Schedstat() // nanoseconds: stat counts in ticks of 10 ms
		if err != nil {
			return u, err
		}
		u.cpu += time.Duration(times.RunningNanoseconds)
	}
	io, err := process.IO()
	u.written = int(io.WriteBytes)
	return u, err
}
