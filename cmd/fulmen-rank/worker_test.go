package main

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/matryer/is"

	"fulmen/daemon/api/worker"
)

func TestInfo(t *testing.T) {
	is := is.New(t)
	var info worker.Info
	start(t, nil, "info").result(&info)
	is.Equal(info.Protocol, worker.ProtocolVersion)
	is.Equal(info.MLXVersion, "0.32.4")
	is.True(len(info.Devices) > 0)
}

// The worker chooses the BLAS by starting itself again: what it says is what
// the loader bound.
func TestBLASChoice(t *testing.T) {
	var fast, slow worker.Info
	start(t, nil, "info").result(&fast)
	if fast.BLAS.Name != "openblas" {
		t.Skipf("no OpenBLAS on this machine: MLX calls %s", fast.BLAS.Name)
	}
	is := is.New(t)
	start(t, []string{"FULMEN_BLAS=reference"}, "info").result(&slow)
	is.Equal(slow.BLAS.Name, "reference")
	is.True(fast.BLAS.Threads > 0)
	is.True(strings.HasPrefix(fast.BLAS.Config, "OpenBLAS"))
}

func TestGPU(t *testing.T) {
	is := is.New(t)
	p := start(t, nil, "gpu", "-device", "cpu", "-time", "400ms")
	last, reported := 0.0, 0
	message := p.until("last word", func(m worker.Message) bool {
		if m.Progress != nil {
			is.True(m.Progress.DoneRatio >= last) // never falls
			last = m.Progress.DoneRatio
			reported++
		}
		return m.Last()
	})
	is.True(reported >= 8) // a word before each choice of size and each measurement
	is.Equal(message.Error, nil)
	var result worker.GPU
	is.NoErr(message.Decode(&result))
	is.Equal(p.status(), 0)

	is.Equal(result.Device.Type, "cpu")
	is.True(result.BLAS != nil)
	types := func(dtypes ...string) string { return strings.Join(dtypes, " ") }
	is.Equal(types(result.MatMul[0].DType, result.MatMul[1].DType), "float16 float32")
	is.Equal(types(result.Bandwidth[0].DType, result.Bandwidth[1].DType), "float16 float32")
	for _, row := range result.MatMul {
		n := float64(row.N)
		is.Equal(row.SpeedTFLOPS, 2*n*n*n/row.BestS/1e12)
		is.True(row.Runs >= 3 && row.BestS > 0 && row.MedianS >= row.BestS)
	}
	for _, row := range result.Bandwidth {
		is.True(row.BufferBytes >= 256<<20) // past the caches
		is.Equal(row.ReadBytesPerS, float64(row.BufferBytes)/row.BestS)
	}
}

func TestHello(t *testing.T) {
	is := is.New(t)
	host, err := os.Hostname()
	is.NoErr(err)
	for rank, word := range group(t, 3, "hello", "-backend", "ring") {
		is.Equal(word.Error, nil)
		var hello worker.Hello
		is.NoErr(word.Decode(&hello))
		is.Equal(hello.Rank, rank)
		is.Equal(hello.Size, 3)
		seen := map[int]bool{}
		for other, member := range hello.Ranks {
			is.Equal(member.Rank, other)
			is.True(strings.HasPrefix(host, member.Host))
			seen[member.PID] = true
		}
		is.Equal(len(seen), 3) // three processes
	}
}

func TestAllReduce(t *testing.T) {
	for _, dtype := range []string{"float32", "float16", "bfloat16"} {
		t.Run(dtype, func(t *testing.T) {
			is := is.New(t)
			for rank, word := range group(t, 2, "allreduce", "-backend", "ring", "-dtype", dtype, "-min-bytes", "64", "-max-bytes", "1024", "-per-size", "5ms") {
				is.Equal(word.Error, nil)
				var result worker.AllReduce
				is.NoErr(word.Decode(&result))
				is.Equal(result.Rank, rank)
				is.Equal(len(result.Rows), 5) // 64, 128, 256, 512, 1024
				for _, row := range result.Rows {
					is.Equal(row.WrongCount, 0)
					is.True(row.Runs >= 3 && row.TimeUS > 0)
					is.Equal(row.BusBytesPerS, row.AlgBytesPerS) // with two ranks
				}
			}
		})
	}
}

func TestSendRecv(t *testing.T) {
	is := is.New(t)
	var rows [][]worker.SendRecvRow
	for _, word := range group(t, 3, "sendrecv", "-backend", "ring", "-min-bytes", "64", "-max-bytes", "256", "-per-size", "5ms") {
		is.Equal(word.Error, nil)
		var result worker.SendRecv
		is.NoErr(word.Decode(&result))
		is.Equal(len(result.Rows), 3)
		for _, row := range result.Rows {
			is.True(row.RTTUS > 0 && row.JitterUS > 0 && row.UpBytesPerS > 0 && row.DownBytesPerS > 0)
		}
		rows = append(rows, result.Rows)
	}
	is.Equal(rows[0], rows[1]) // every rank tells the same numbers,
	is.Equal(rows[0], rows[2]) // the third one too, which only watched
}

// Without a descriptor 3 the result is for a person, or a script.
func TestByHand(t *testing.T) {
	is := is.New(t)
	command := exec.Command(os.Args[0], "info")
	command.Env = append(os.Environ(), asWorker+"=1")
	out, err := command.Output()
	is.NoErr(err)
	var info worker.Info
	is.NoErr(json.Unmarshal(out, &info))
	is.Equal(info.MLXVersion, "0.32.4")
}

// A rank of a job has no descriptor 3: its messages are what it prints.
func TestMessagesOnOutput(t *testing.T) {
	is := is.New(t)
	environments := ringOf(t, 2)
	args := []string{"allreduce", "-messages", "stdout", "-backend", "ring", "-min-bytes", "64", "-max-bytes", "128", "-per-size", "1ms"}
	other := start(t, environments[1], args...) // it has a descriptor 3, which counts
	command := exec.CommandContext(t.Context(), os.Args[0], args...)
	command.Env = append(append(os.Environ(), asWorker+"=1"), environments[0]...)
	out, err := command.Output()
	is.NoErr(err)
	var theirs, ours worker.AllReduce
	other.result(&theirs)
	messages, ratio := worker.NewReader(bytes.NewReader(out)), 0.0
	for {
		message, err := messages.Next()
		is.NoErr(err) // nothing else is printed there
		if message.Progress != nil {
			ratio = message.Progress.DoneRatio
		}
		if message.Last() {
			is.NoErr(message.Decode(&ours))
			break
		}
	}
	is.Equal(ratio, 0.5) // before the second of two sizes
	is.Equal(ours.Rank, 0)
	is.Equal(ours.Rows, theirs.Rows)
}

// A descriptor 3 that cannot be written to is somebody else's: make's job
// server keeps the reading end of a pipe there.
func TestForeignDescriptor(t *testing.T) {
	is := is.New(t)
	reading, writing, err := os.Pipe()
	is.NoErr(err)
	defer reading.Close()
	defer writing.Close()
	command := exec.Command(os.Args[0], "info")
	command.Env = append(os.Environ(), asWorker+"=1")
	command.ExtraFiles = []*os.File{reading}
	out, err := command.Output()
	is.NoErr(err)
	is.True(strings.Contains(string(out), "mlx_version"))
}
