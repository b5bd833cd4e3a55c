//go:build cgo && linux && darwinsim

package simmac_test

import (
	"encoding/json"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/matryer/is"

	"fulmen/native"
	"fulmen/native/darwin"
	"fulmen/native/darwin/simfw"
	"fulmen/native/nativetest"
)

// verbsEnvironment makes the test's program a child that asks an imitation of the RDMA
// library: "hang ibv_query_port", "crash ...", "garbage", "flood", or "" for one that works.
const verbsEnvironment = "FULMEN_TEST_VERBS"

func TestMain(m *testing.M) {
	fault, isChild := os.LookupEnv(verbsEnvironment)
	if !isChild {
		os.Exit(m.Run())
	}
	switch fault {
	case "garbage":
		_, _ = os.Stdout.WriteString("devices\nthis is no list")
	case "flood":
		for block := strings.Repeat("x", 1<<16); ; {
			if _, err := os.Stdout.WriteString(block); err != nil {
				os.Exit(1)
			}
		}
	default:
		machine := simfw.New()
		machine.SetValue("verbs", []any{map[string]any{
			"name": "rdma_en3", "state": 4, "mtu": 5, "width": 4, "speed": 4, "gids": []any{make([]byte, 16)}, "max_qp": 3,
		}})
		machine.SetValue("verbs_fault", fault)
		if err := (darwin.Simulated{Machine: machine}).AnswerVerbs(os.Stdout); err != nil {
			os.Exit(1)
		}
	}
	os.Exit(0)
}

// childMachines is a Mac with RDMA devices in its registry, whose library a child asks. Of
// held the child is the writer for as long as it lives: its number is read, and the end.
func childMachines(t *testing.T, fault string) (p native.Platform, held *os.File) {
	t.Helper()
	is := is.New(t)
	program, err := os.Executable()
	is.NoErr(err)
	pipe := t.TempDir() + "/held"
	is.NoErr(syscall.Mkfifo(pipe, 0o600))
	held, err = os.OpenFile(pipe, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	is.NoErr(err)
	t.Cleanup(func() { is.NoErr(held.Close()) })
	d := plugged(t)
	clock := nativetest.NewClock(d.time.Now())
	p, err = d.macs["A"].PlatformAsking(clock, "/bin/sh", "-c", `exec 3>"$0"; echo $$ >&3; exec "$@"`, pipe, "/usr/bin/env", verbsEnvironment+"="+fault, program)
	is.NoErr(err)
	t.Cleanup(func() { is.NoErr(p.Close()) })
	return p, held
}

// isGone waits until a time for the end of a child, and ends one that stays.
func isGone(t *testing.T, held *os.File, until time.Time) bool {
	t.Helper()
	is := is.New(t)
	is.NoErr(held.SetReadDeadline(until))
	reported, err := io.ReadAll(held)
	if err == nil {
		return true
	}
	pid, parsed := strconv.Atoi(strings.TrimSpace(string(reported)))
	is.NoErr(parsed)
	is.NoErr(syscall.Kill(pid, syscall.SIGKILL))
	return false
}

// TestVerbsAreAskedInAChild: each call may hang, crash or tell nonsense; the facts say so,
// nothing waits for longer than the deadline, and no child outlives it.
func TestVerbsAreAskedInAChild(t *testing.T) {
	calls := []string{
		"ibv_get_device_list", "ibv_get_device_name", "ibv_open_device", "ibv_query_port", "ibv_query_gid", "ibv_query_device",
		"ibv_close_device", "ibv_free_device_list",
	}
	faults := map[string]string{"": "", "garbage": "malformed", "flood": "did not answer within", "crash ibv_open_device": "the process that called librdma ended"}
	for _, call := range calls {
		faults["hang "+call] = "did not answer within"
	}
	is := is.New(t)
	reported, children := map[string]native.Snapshot{}, map[string]*os.File{}
	var mu sync.Mutex
	var asking sync.WaitGroup
	began := time.Now()
	for fault := range faults {
		p, held := childMachines(t, fault)
		children[fault] = held
		asking.Go(func() {
			s, err := p.Facts.Snapshot(t.Context(), native.AreaRDMA)
			mu.Lock()
			defer mu.Unlock()
			reported[fault] = s
			if err != nil {
				t.Error(fault, err)
			}
		})
	}
	asking.Wait()
	is.True(time.Since(began) < time.Minute) // the deadline of each is 5 seconds
	for fault, reports := range faults {
		if !isGone(t, children[fault], began.Add(time.Minute)) {
			t.Errorf("%q: the child outlived its deadline", fault)
		}
		s := reported[fault]
		is.Equal(s.Check([]native.Area{native.AreaRDMA}), nil)
		i := slices.IndexFunc(s.RDMA.Devices, func(d native.RDMADevice) bool { return d.Name == "rdma_en3" })
		is.True(i >= 0) // by the registry
		device := s.RDMA.Devices[i]
		is.Equal(device.PortState, native.RDMAPortActive) // by its power state, where the library fails
		if fault == "" {
			is.Equal(*device.Limits, native.RDMALimits{QueuePairs: 3, CompletionQueues: 11, MemoryRegions: 100, ProtectionDomains: 11})
			continue
		}
		is.True(device.Limits == nil)
		if why := device.Unknown["gids"]; !strings.Contains(string(why), reports) {
			t.Errorf("%q says %q", fault, why)
		}
	}
}

// TestNoTimerAsksTheLibrary: the re-read of every minute takes the last answer.
func TestNoTimerAsksTheLibrary(t *testing.T) {
	is := is.New(t)
	clean(t)
	count := t.TempDir() + "/asked"
	program, err := os.Executable()
	is.NoErr(err)
	d := plugged(t)
	clock := nativetest.NewClock(d.time.Now())
	p, err := d.macs["A"].PlatformAsking(clock, "/bin/sh", "-c", "echo >>"+count+"; exec env "+verbsEnvironment+"= "+program)
	is.NoErr(err)
	defer func() { is.NoErr(p.Close()) }()
	asked := func() int {
		text, err := os.ReadFile(count)
		is.NoErr(err)
		return strings.Count(string(text), "\n")
	}
	stop, err := p.Facts.Watch(func(native.Hint) {})
	is.NoErr(err)
	s, err := p.Facts.Snapshot(t.Context(), native.AreaRDMA)
	is.NoErr(err)
	is.Equal(asked(), 1)
	clock.Advance(10 * time.Minute)
	is.Equal(asked(), 1)
	again, err := p.Facts.Snapshot(t.Context(), native.AreaRDMA)
	is.NoErr(err)
	is.Equal(asked(), 2)
	again.At = s.At
	before, _ := json.Marshal(s)
	now, _ := json.Marshal(again)
	is.Equal(string(now), string(before))
	is.NoErr(stop())
}
