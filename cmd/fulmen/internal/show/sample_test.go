package show

import (
	"encoding/json"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"

	"fulmen/daemon/api"
)

const (
	studio = api.NodeID("cpv0cwypxp44qw0p")
	mini   = api.NodeID("y4ct7zn17a6cj7p0")
)

func now() time.Time { return time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC) }

func before(d time.Duration) api.Time { return api.TimeOf(now().Add(-d)) }

func ptr[T any](v T) *T { return &v }

// doc makes a document.
func doc(t *testing.T, node api.NodeID, kind api.Kind, value any, unknown map[string]api.Reason) api.Document {
	t.Helper()
	d := api.Document{Node: node, Kind: kind, Inc: 1, Seq: 1, At: before(time.Minute), Unknown: unknown}
	if err := d.SetValue(value); err != nil {
		t.Fatal(err)
	}
	return d
}

func studioProfile() api.GPUProfile {
	return api.GPUProfile{
		MeasuredAt: before(12 * time.Minute), Device: api.MLXDeviceMetal, DeviceName: "Apple M3 Ultra", FP16TFLOPS: ptr(26.34),
		FP16Timing: &api.Timing{Runs: 7, SpreadRatio: 0.011}, FP32TFLOPS: ptr(24.1), FP32Timing: &api.Timing{Runs: 7, SpreadRatio: 0.02},
		MatrixSize: 8192, MemoryBytesPerS: ptr(int64(742e9)), MemoryTiming: &api.Timing{Runs: 9, SpreadRatio: 0.004}, BufferBytes: 4 << 30,
		TookS:      9.4,
		Conditions: api.MeasureConditions{MLXVersion: "0.32.4", ThermalState: api.ThermalNominal, PowerSource: api.PowerMains},
	}
}

// studioDocs are the documents of a Mac about which all is known.
func studioDocs(t *testing.T) []api.Document {
	return []api.Document{
		doc(t, studio, api.KindIdentity, api.Identity{
			Name: "Mac Studio", ShortName: "mac-studio", Architecture: "arm64", ModelName: "Mac Studio", Chip: "Apple M3 Ultra", OSName: "macOS",
			OSVersion: "26.2", OSBuild: "25C56", CPUCores: ptr(32), GPUCores: ptr(80), MLXVersion: "0.32.4",
			MLXBackends: []api.MLXBackend{api.MLXBackendJACCL, api.MLXBackendRing}, MLXDevices: []api.MLXDevice{api.MLXDeviceMetal, api.MLXDeviceCPU},
			FulmenVersion: "1.0.0", StartedAt: before(3*time.Hour + 5*time.Minute),
		}, nil),
		doc(t, studio, api.KindMemory, api.Memory{TotalBytes: ptr(int64(512 << 30)), UsedBytes: ptr(int64(96<<30 + 300<<20)), Pressure: api.PressureNormal}, nil),
		doc(t, studio, api.KindGPUProfile, studioProfile(), nil),
	}
}

// miniDocs are those of a simulated one that knows little, with a hostile name.
func miniDocs(t *testing.T) []api.Document {
	identity := doc(t, mini, api.KindIdentity, api.Identity{Name: "mini\x1b]0;owned\x07", ShortName: "mini\u202e\x1b[2J", Architecture: "arm64", CPUCores: ptr(10)},
		map[string]api.Reason{"chip": api.ReasonReadFailed, "mlx_version": api.ReasonMLXMissing, "os_version": api.ReasonNotSupportedByPlatform})
	identity.Simulated = true
	return []api.Document{
		identity,
		doc(t, mini, api.KindMemory, api.Memory{TotalBytes: ptr(int64(16 << 30)), Pressure: api.PressureWarning}, map[string]api.Reason{"used_bytes": api.ReasonReadFailed}),
		doc(t, mini, api.KindGPUProfile, api.GPUProfile{Failure: &api.MeasureFailure{At: before(time.Hour), Reason: api.ReasonMLXMissing, Message: "MLX was not found."}}, nil),
	}
}

func studioView() api.NodeView {
	return api.NodeView{Node: studio, ShortName: "mac-studio", Self: true, Liveness: api.LivenessAlive, Since: before(time.Hour)}
}

func miniView() api.NodeView {
	return api.NodeView{Node: mini, ShortName: "mini\u202e\x1b[2J", Simulated: true, Liveness: api.LivenessAsleep, Since: before(time.Hour), Message: "It went to sleep."}
}

// memoriesOf is a Mac among Linux machines: one has a discrete GPU, of the third nothing tells.
func memoriesOf(t *testing.T) (api.NodeListResult, []api.Document) {
	list, docs := api.NodeListResult{Totals: memories()}, []api.Document{}
	for i, kind := range []api.GPUMemory{api.GPUMemoryUnified, api.GPUMemoryDedicated, api.GPUMemoryNone, ""} {
		node := api.NodeIDFromKey([]byte{byte(i)})
		list.Nodes = append(list.Nodes, api.NodeView{Node: node, ShortName: "node-" + strconv.Itoa(i), Liveness: api.LivenessAlive})
		docs = append(docs, doc(t, node, api.KindIdentity, api.Identity{Chip: "a chip", GPUMemory: kind}, nil),
			doc(t, node, api.KindMemory, api.Memory{TotalBytes: ptr(int64(64 << 30)), UsedBytes: ptr(int64(8 << 30)), GPUWorkingSetBytes: ptr(int64(24 << 30))}, nil))
	}
	return list, docs
}

func memories() api.Totals {
	return api.Totals{Nodes: 4, Members: 4, MemoryTotalBytes: ptr(int64(64 << 30)), MemoryUsedBytes: ptr(int64(8 << 30)), OtherMemory: []api.OtherMemory{
		{TotalBytes: 64 << 30, Nodes: 1}, {GPUMemory: api.GPUMemoryDedicated, TotalBytes: 24 << 30, Nodes: 1}, {GPUMemory: api.GPUMemoryNone, TotalBytes: 64 << 30, Nodes: 2},
	}}
}

// The page has the words for memory that the menu and the command line have.
func TestPageNamesMemoryAlike(t *testing.T) {
	is := is.New(t)
	page, err := os.ReadFile("../../../../assets/dashboard/src/words.ts")
	is.NoErr(err)
	_, table, _ := strings.Cut(string(page), "export const gpuMemory")
	table, _, _ = strings.Cut(table, "});")
	for _, kind := range append(api.GPUMemory("").Values(), `""`) {
		is.True(strings.Contains(table, kind+": \""+api.GPUMemory(strings.Trim(kind, `"`)).Noun()+"\","))
	}
}

func aloneList() api.NodeListResult {
	return api.NodeListResult{Nodes: []api.NodeView{studioView()}, Totals: api.Totals{
		Nodes: 1, Members: 1, MemoryTotalBytes: ptr(int64(512 << 30)), FP16TFLOPS: ptr(26.34), MemoryBytesPerS: ptr(int64(742e9)), MeasuredNodes: 1,
	}}
}

func bothList() api.NodeListResult {
	return api.NodeListResult{Nodes: []api.NodeView{studioView(), miniView()}, Totals: api.Totals{
		Nodes: 2, Members: 2, MemoryTotalBytes: ptr(int64(528 << 30)), FP16TFLOPS: ptr(26.34), MemoryBytesPerS: ptr(int64(742e9)), MeasuredNodes: 1,
		PowerWatts: ptr(41.5), PowerNodes: 1, Simulated: true,
	}}
}

func info() *api.DaemonInfoResult {
	return &api.DaemonInfoResult{
		Node: studio, Cluster: "1627a5fa4a54af2e098cf3ca6dfb55b5", Version: "1.0.0", Mode: api.ModeSystem, PID: 512, StartedAt: before(3*time.Hour + 5*time.Minute),
		APIURL: "ws://127.0.0.1:7731/v1", Socket: "/var/run/fulmen/fulmen.sock", StateFolder: "/Library/Application Support/Fulmen",
	}
}

func conditions() []api.NodeCondition {
	return []api.NodeCondition{
		{Node: studio, Condition: api.Condition{Code: api.ReasonAPIPortTaken, Severity: api.SeverityWarning, Text: "Another program holds the API's port.",
			Remedy: "Scripts find the port in use in api.json.", Action: &api.Action{Kind: api.ActionCommand, Label: "Show the configuration", Target: "fulmen config"}, Since: before(time.Hour)}},
		{Node: mini, Condition: api.Condition{Code: "from_the_future", Severity: api.SeverityInfo, Subject: string(mini), Text: "Evil\nline \x1b[31mred.", Since: before(time.Hour)}},
	}
}

// worst is the headline of problems.
func worst(all []api.NodeCondition) api.Headline {
	return api.Headline{Text: all[0].Text, Problems: 1, Worst: &all[0]}
}

func raw(s string) json.RawMessage { return json.RawMessage(s) }

func listing() api.DaemonConfigResult {
	return api.DaemonConfigResult{File: "/Library/Application Support/Fulmen/config.toml", Keys: []api.ConfigKey{
		{Key: "api.port", Value: raw(`7731`), Default: raw(`7731`), NeedsRestart: true, Doc: "TCP port of the local API, on 127.0.0.1. If it is taken the next free one is used; 0 is any free one."},
		{Key: "log.level", Value: raw(`"debug"`), Default: raw(`"info"`), Set: true, Doc: "How much the daemon writes to its log."},
		{Key: "log.levels.rank", Value: raw(`""`), Default: raw(`""`), Doc: "Level of one part."},
		{Key: "peers.addresses", Value: raw(`["mac-studio-2.local","mini.local"]`), Default: raw(`[]`), Set: true, Doc: "Nodes that cannot be discovered."},
	}}
}
