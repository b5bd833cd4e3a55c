package api

import (
	"bytes"
	"cmp"
	"encoding/hex"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"testing"

	"github.com/matryer/is"
)

var update = flag.Bool("update", false, "write the golden files anew")

// goldenFiles is every golden file with what it must hold. It is made from the
// tables, so that a new kind, method, notification, code or reason without a
// golden file fails, and so does a golden file without its row.
func goldenFiles() map[string]any {
	files := map[string]any{
		"ids": map[string]any{
			"node": testNode(1), "node_display": testNode(1).Display(), "cluster": sampleCluster, "job": JobID("j4k2m9xq7"),
			"measurement": MeasureID("m4k2m9xq7"), "rank": RankRef{"j4k2m9xq7", 2, 1}, "link_end": LinkEnd{testNode(1), 1},
			"link": sampleLink(), "principal": Principal{"anna", testNode(1)},
			"peer_address": sample[PeerAddress](), "receptacle": PortNumber(3), "time": sampleTime(),
			"key": sample[Key](), "version": sample[Version](),
		},
		"signing":                sampleSigning(),
		"job_spec":               sample[JobSpec](),
		"document_deleted":       sampleDeleted(),
		"table_kinds":            kindRows(),
		"table_reasons":          Reasons(),
		"table_methods":          methodRows(Methods()),
		"table_peer_methods":     methodRows(PeerMethods()),
		"table_job_phases":       phaseRows(JobPhases(), func(i JobPhaseInfo) (JobPhase, []JobPhase) { return i.Phase, i.Next }),
		"table_rank_phases":      phaseRows(RankPhases(), func(i RankPhaseInfo) (RankPhase, []RankPhase) { return i.Phase, i.Next }),
		"message_request":        sampleRequest(json.RawMessage("1")),
		"message_notification":   sampleRequest(nil),
		"message_batch":          []Request{sampleRequest(json.RawMessage("1")), sampleRequest(json.RawMessage(`"b"`))},
		"message_response":       Response{JSONRPC: JSONRPCVersion, ID: json.RawMessage("1"), Result: json.RawMessage("{}")},
		"message_response_error": Response{JSONRPC: JSONRPCVersion, ID: json.RawMessage("null"), Error: NewError(ReasonLinkTooSlow, "link").Response()},
		"message_lagged":         StateChanged{Sub: "s1", Lagged: true},
		"message_peer_conn":      sample[PeerConn](),
		"file_api":               sample[APIAddress](),
	}
	for _, info := range Kinds() {
		files["kind_"+string(info.Kind)] = sampleDocument(info)
	}
	for _, code := range Codes() {
		files["error_"+code.String()] = sampleError(code)
	}
	for _, m := range slices.Concat(Methods(), PeerMethods()) {
		files["method_"+m.Name] = map[string]any{"params": sampleOf(m.Params), "result": sampleOf(m.Result)}
	}
	for _, n := range slices.Concat(Notifications(), PeerNotifications()) {
		files["notification_"+n.Name] = sampleOf(n.Params)
	}
	return files
}

func TestGolden(t *testing.T) {
	dir := filepath.Join("testdata", "golden")
	want := goldenFiles()
	for name, value := range want {
		raw, err := json.Marshal(value)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		var indented bytes.Buffer
		if err := json.Indent(&indented, raw, "", "  "); err != nil {
			t.Fatal(err)
		}
		indented.WriteByte('\n')
		path := filepath.Join(dir, name+".json")
		if *update {
			if err := os.WriteFile(path, indented.Bytes(), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		golden, err := os.ReadFile(path)
		if err != nil {
			t.Errorf("%s: %v; go test -update writes it", name, err)
		} else if !bytes.Equal(golden, indented.Bytes()) {
			t.Errorf("%s differs from what is written now:\n%s", path, &indented)
		}
	}
	present, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range present {
		name := f.Name()
		if _, ok := want[name[:len(name)-len(filepath.Ext(name))]]; !ok {
			t.Errorf("%s belongs to nothing: names are never taken away", name)
		}
	}
}

// Every golden document reads back, verifies, and is sent on unchanged, and
// its value fits the kind's struct without a field left over.
func TestGoldenDocumentsVerify(t *testing.T) {
	for _, info := range Kinds() {
		t.Run(string(info.Kind), func(t *testing.T) {
			is := is.New(t)
			raw, err := os.ReadFile(filepath.Join("testdata", "golden", "kind_"+string(info.Kind)+".json"))
			is.NoErr(err)
			var wire bytes.Buffer
			is.NoErr(json.Compact(&wire, raw))
			var d Document
			is.NoErr(json.Unmarshal(wire.Bytes(), &d))
			is.NoErr(d.Verify(sampleCluster, publicKey(1)))
			again, err := json.Marshal(d)
			is.NoErr(err)
			is.Equal(string(again), wire.String()) // byte for byte
			value := reflect.New(info.Value)
			dec := json.NewDecoder(bytes.NewReader(d.Value))
			dec.DisallowUnknownFields()
			is.NoErr(dec.Decode(value.Interface()))
			back, err := json.Marshal(value.Interface())
			is.NoErr(err)
			is.Equal(string(back), string(d.Value))
			if job, ok := value.Interface().(*Job); ok {
				_, err := job.VerifySpec(sampleCluster, publicKey(1))
				is.NoErr(err)
			}
		})
	}
}

func sampleOf(t reflect.Type) any {
	v := reflect.New(t).Elem()
	fill(v, "")
	return v.Interface()
}

// sampleError is an error of the first reason that has the code, with every field set.
func sampleError(code Code) Error {
	e := sample[Error]()
	for _, info := range Reasons() {
		if info.Code == code {
			e.Code, e.Message, e.Data.Reason, e.Data.Remedy = code, info.Text, info.Reason, cmp.Or(info.Remedy, e.Data.Remedy)
			return e
		}
	}
	panic("no reason has the code " + code.String())
}

func sampleRequest(id json.RawMessage) Request {
	return Request{JSONRPC: JSONRPCVersion, ID: id, Method: "state.watch", Params: json.RawMessage(`{"kinds":["memory"]}`)}
}

func sampleDeleted() Document {
	d := Document{Node: testNode(1), Kind: KindThunderbolt, Name: "3", Inc: 2, Seq: 42, At: sampleTime(), Deleted: true}
	if err := d.Sign(sampleCluster, testKey(1)); err != nil {
		panic(err)
	}
	return d
}

// sampleSigning is a test vector for other implementations.
func sampleSigning() map[string]any {
	key := testKey(1)
	d := Document{Node: testNode(1), Kind: "memory", Inc: 1, Seq: 7, At: sampleTime(), Value: json.RawMessage(`{"a":1}`),
		Unknown: map[string]Reason{"b": ReasonNeedsRoot, "a": ReasonNotYetRead}, Simulated: true,
		Extra: map[string]json.RawMessage{"next": json.RawMessage("[1,2]")}}
	if err := d.Sign(sampleCluster, key); err != nil {
		panic(err)
	}
	return map[string]any{"seed_hex": hex.EncodeToString(key.Seed()), "cluster": sampleCluster, "document": d,
		"signing_bytes_hex": hex.EncodeToString(d.SigningBytes(sampleCluster)), "sig_hex": hex.EncodeToString(d.Sig)}
}

func kindRows() []map[string]any {
	var rows []map[string]any
	for _, info := range Kinds() {
		rows = append(rows, map[string]any{"kind": info.Kind, "value": info.Value.Name(), "name": info.Name,
			"replicated": info.Replicated, "persisted": info.Persisted, "live": info.Live})
	}
	return rows
}

func methodRows(all []MethodInfo) []map[string]any {
	var rows []map[string]any
	for _, m := range all {
		rows = append(rows, map[string]any{"name": m.Name, "class": m.Class, "params": m.Params.Name(),
			"result": m.Result.Name(), "notifies": m.Notifies, "doc": m.Doc})
	}
	return rows
}

func phaseRows[I any, P ~string](all []I, row func(I) (P, []P)) map[P][]P {
	rows := map[P][]P{}
	for _, info := range all {
		phase, next := row(info)
		rows[phase] = append([]P{}, next...)
	}
	return rows
}
