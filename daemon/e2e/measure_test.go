package e2e

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/matryer/is"

	"fulmen/daemon/api"
	wire "fulmen/daemon/api/worker"
	"fulmen/daemon/client"
)

// measure starts a measurement and gives its end. each hears every state on
// the way.
func measure(t *testing.T, c *client.Client, each func(api.Measurement)) api.Measurement {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	started, changes, err := client.Stream[api.MeasureStarted, api.MeasureChanged](ctx, c, "measure.gpu", api.MeasureGPUParams{})
	if err != nil {
		t.Fatal(err)
	}
	each(started.Measurement)
	for change, err := range changes {
		if err != nil {
			t.Fatal(err)
		}
		if change.Terminal {
			return change.Measurement
		}
		each(change.Measurement)
	}
	t.Fatal("the measurement has no end")
	return api.Measurement{}
}

func TestMeasureGPU(t *testing.T) {
	needWorker(t)
	is := is.New(t)
	folder := newHome(t)
	r := start(t, folder)
	last := 0.0
	done := measure(t, r.dial(), func(m api.Measurement) {
		if ratio := m.Items[0].DoneRatio; ratio != nil {
			is.True(*ratio >= last) // never falls
			last = *ratio
		}
	})
	is.Equal(done.State, api.MeasureDone)
	is.Equal(last > 0.5, true) // progress was told
	profile := func(r *rig) api.GPUProfile {
		document := until(t, r.dial(), api.KindGPUProfile, "profile", func(api.Document) bool { return true })
		var value api.GPUProfile
		is.NoErr(document.Decode(&value))
		return value
	}
	before := profile(r)
	is.True(*before.FP16TFLOPS > 0)
	is.True(*before.MemoryBytesPerS > 0)
	is.Equal(before.Conditions.MLXVersion, "0.32.4")

	// A measurement outlives the daemon.
	is.NoErr(r.end())
	again := profile(start(t, folder))
	is.Equal(*again.FP16TFLOPS, *before.FP16TFLOPS)
	is.Equal(again.MeasuredAt, before.MeasuredAt)
}

func TestSecondMeasurementJoins(t *testing.T) {
	needWorker(t)
	is := is.New(t)
	r := start(t, newHome(t))
	c := r.dial()
	first := call[api.MeasureStarted](t, c, "measure.gpu", api.MeasureGPUParams{})
	second := call[api.MeasureStarted](t, c, "measure.gpu", api.MeasureGPUParams{})
	is.Equal(first.Measurement.ID, second.Measurement.ID) // never two at once
	call[api.Empty](t, c, "measure.cancel", api.MeasureSelect{Measurement: first.Measurement.ID})
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	_, changes, err := client.Stream[api.MeasureStarted, api.MeasureChanged](ctx, c, "measure.watch", api.MeasureSelect{Measurement: first.Measurement.ID})
	is.NoErr(err)
	for change, err := range changes {
		is.NoErr(err)
		if change.Terminal {
			is.Equal(change.Measurement.State, api.MeasureCancelled)
			return
		}
	}
	t.Fatal("no end")
}

// What happens to a worker is told, and the daemon goes on.
func TestWorkerIsKilled(t *testing.T) {
	needWorker(t)
	is := is.New(t)
	r := start(t, newHome(t))
	c := r.dial()
	killed := false
	done := measure(t, c, func(m api.Measurement) {
		if !killed && strings.Contains(m.Items[0].Step, "n =") {
			killed = true
			is.NoErr(syscall.Kill(workerOf(t), syscall.SIGKILL))
		}
	})
	is.True(killed)
	is.Equal(done.State, api.MeasureFailed)
	is.True(done.Items[0].Error != nil)
	is.True(done.Items[0].Error.Message != "")
	condition := until(t, c, api.KindCondition, "condition", func(d api.Document) bool { return strings.HasPrefix(d.Name, "worker_") })
	is.True(len(condition.Value) > 0)
	call[api.DaemonInfoResult](t, c, "daemon.info", nil) // the daemon is well
}

// workerOf finds this process's child that is a worker and measures: another one
// may still say what MLX is, from the daemon's start.
func workerOf(t *testing.T) int {
	t.Helper()
	lists, err := filepath.Glob("/proc/self/task/*/children") // each thread has its own
	if err != nil || len(lists) == 0 {
		t.Skip("this system does not list children in /proc")
	}
	for _, list := range lists {
		text, err := os.ReadFile(list)
		if err != nil {
			continue // the thread is gone
		}
		for _, field := range strings.Fields(string(text)) {
			args, err := os.ReadFile("/proc/" + field + "/cmdline")
			if all := strings.Split(string(args), "\x00"); err == nil && len(all) > 1 && filepath.Base(all[0]) == "fulmen-rank" && all[1] == string(wire.CommandGPU) {
				pid, err := strconv.Atoi(field)
				if err != nil {
					t.Fatal(err)
				}
				return pid
			}
		}
	}
	t.Fatal("no worker runs")
	return 0
}

// A worker that is not there is a condition with what to do, and an error of
// the measurement.
func TestMissingWorker(t *testing.T) {
	is := is.New(t)
	folder := newHome(t)
	config, err := os.ReadFile(folder + "/" + api.ConfigFile)
	is.NoErr(err)
	is.NoErr(os.WriteFile(folder+"/"+api.ConfigFile, append(config, "[paths]\nworker = \"/nowhere/fulmen-rank\"\n"...), 0o600))
	r := start(t, folder)
	c := r.dial()
	until(t, c, api.KindCondition, "condition", func(d api.Document) bool { return strings.HasPrefix(d.Name, string(api.ReasonMLXMissing)) })
	done := measure(t, c, func(api.Measurement) {})
	is.Equal(done.State, api.MeasureFailed)
	is.True(errors.Is(done.Items[0].Error, api.ReasonMLXMissing) || strings.Contains(done.Items[0].Error.Message, "/nowhere/fulmen-rank"))
}
