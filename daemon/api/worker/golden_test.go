package worker

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/matryer/is"
)

var update = flag.Bool("update", false, "write the golden files again")

// value is a result as the worker sends it.
func value(t *testing.T, command Command, v any) Message {
	t.Helper()
	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return Message{Type: TypeResult, Command: command, Value: raw}
}

// samples holds each message of the protocol once, by golden file.
func samples(t *testing.T) map[string]Message {
	cpu := Device{Type: "cpu", Name: "AMD EPYC", Architecture: "x86_64", MemoryBytes: 25_282_000_896}
	timing := Timing{WarmUpS: 1.5, Settled: true, Runs: 12, BestS: 0.0135, MedianS: 0.0138, SpreadRatio: 0.0222}
	return map[string]Message{
		"progress": {Type: TypeProgress, Command: CommandGPU, Progress: &Progress{Stage: "float16 matmul, n = 4096", DoneRatio: 0.25, ElapsedS: 2.5}},
		"log":      {Type: TypeLog, Command: CommandGPU, Log: &Log{Level: LevelWarn, Text: "speed did not settle in 8 s"}},
		"error": {Type: TypeError, Command: CommandHello, Error: &Error{
			Reason: ReasonGroupInit, Message: "[ring] Couldn't bind socket (error: 98)", Remedy: "end the program that holds the port", Stage: "init"}},
		"info": value(t, CommandInfo, Info{
			Protocol: ProtocolVersion, MLXVersion: "0.32.4", OS: "darwin", Arch: "arm64", CPUs: 28,
			Backends: []string{"cpu", "metal"}, Distributed: []string{"ring", "jaccl"},
			BLAS: BLAS{Name: "accelerate"},
			Devices: []Device{
				{Type: "gpu", Name: "Apple M3 Ultra", Architecture: "applegpu_g15d", MemoryBytes: 549_755_813_888,
					MaxBufferBytes: 379_331_379_200, WorkingSetBytes: 498_216_206_336}, cpu}}),
		"hello": value(t, CommandHello, Hello{Backend: "ring", Rank: 1, Size: 2,
			Ranks: []Member{{Rank: 0, Host: "studio-1", PID: 412}, {Rank: 1, Host: "studio-2", PID: 977}}}),
		"gpu": value(t, CommandGPU, GPU{Device: cpu, MLXVersion: "0.32.4",
			BLAS:      &BLAS{Name: "openblas", Path: "libopenblas.so.0", Config: "OpenBLAS 0.3.21", Threads: 2},
			MatMul:    []MatMul{{DType: "float32", N: 1024, SpeedTFLOPS: 0.159, Timing: timing}},
			Bandwidth: []Bandwidth{{DType: "float16", BufferBytes: 2 << 30, ReadBytesPerS: 21.5e9, Timing: timing}}, ElapsedS: 9.75}),
		"allreduce": value(t, CommandAllReduce, AllReduce{Backend: "ring", Size: 4, DType: "float32",
			Rows: []AllReduceRow{{MessageBytes: 1 << 20, Runs: 20, TimeUS: 1000, AlgBytesPerS: 1048.576e6, BusBytesPerS: 1572.864e6}}}),
		"sendrecv": value(t, CommandSendRecv, SendRecv{Backend: "jaccl", Rank: 1, Size: 2, DType: "float32",
			Rows: []SendRecvRow{{MessageBytes: 4096, Runs: 100, RTTUS: 18, UpBytesPerS: 9.35e9, DownBytesPerS: 9.35e9}}}),
	}
}

func TestGolden(t *testing.T) {
	covered := map[Command]bool{}
	types := map[Type]bool{}
	for name, message := range samples(t) {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			var out bytes.Buffer
			is.NoErr(NewWriter(&out).Write(message))
			path := filepath.Join("testdata", "golden", name+".json")
			if *update {
				is.NoErr(os.WriteFile(path, out.Bytes(), 0o644))
			}
			want, err := os.ReadFile(path)
			is.NoErr(err)                            // missing: run go test -update
			is.Equal(out.String(), string(want))     // the wire form changed
			got, err := NewReader(&out).Next()       // and reads back
			is.NoErr(err)                            //
			is.True(reflect.DeepEqual(got, message)) // as it was
			types[message.Type] = true
			if message.Type == TypeResult {
				covered[message.Command] = true
			}
		})
	}
	for _, command := range Commands() {
		if !covered[command] {
			t.Errorf("command %q has no golden result", command)
		}
	}
	for _, known := range []Type{TypeProgress, TypeLog, TypeResult, TypeError} {
		if !types[known] {
			t.Errorf("type %q has no golden message", known)
		}
	}
}

func TestDecode(t *testing.T) {
	is := is.New(t)
	sent := AllReduceRow{MessageBytes: 8, Runs: 3, TimeUS: 1.5}
	message := value(t, CommandAllReduce, AllReduce{Rows: []AllReduceRow{sent}})
	var got AllReduce
	is.NoErr(message.Decode(&got))
	is.Equal(got.Rows, []AllReduceRow{sent})
	is.True(Message{Type: TypeLog, Log: &Log{}}.Decode(&got) != nil) // no result
	message.Value = json.RawMessage(`{"rows": 3}`)
	is.True(message.Decode(&got) != nil) // wrong form
}
