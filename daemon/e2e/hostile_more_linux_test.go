package e2e

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/creack/pty"
	"github.com/matryer/is"

	"fulmen/daemon/api"
	"fulmen/daemon/client"
	"fulmen/native/nativetest"
)

// Steps of a change of RDMA on the cable between studio-1, where members may change
// their own cables, and studio-2.
func (a *attack) testCable(t *testing.T) {
	is := is.New(t)
	at := a.Nodes[0]
	call[api.Sharing](t, at.Client, "cluster.set_sharing", api.ClusterSetSharingParams{RDMAChanges: api.ChangesMembers})
	var foreign api.LinkID
	for _, l := range call[api.LinkListResult](t, at.Client, "link.list", nil).Cables {
		_, isHere := l.Link.End(at.ID)
		_, isThere := l.Link.End(a.Nodes[1].ID)
		if isHere && isThere {
			foreign = l.Link
		}
	}
	is.True(foreign.Valid())
	for _, step := range api.RDMAChangeStep("").Values() {
		a.isRefused(t, at, "peer.rdma", api.PeerRDMAParams{Step: api.RDMAChangeStep(step), Link: foreign, Change: "c", By: a.eve()}, api.ReasonNoSuchLink)
	}
	for _, step := range api.PeerProbeStep("").Values() {
		a.isRefused(t, at, "peer.probe", api.PeerProbeParams{Step: api.PeerProbeStep(step), Link: foreign, Measurement: api.NewMeasureID()}, api.ReasonNoSuchLink)
	}
	changes := call[api.StateGetResult](t, at.Client, "state.get", api.StateSelect{Kinds: []api.Kind{api.KindRDMAChange}})
	is.Equal(len(changes.Docs), 0)
}

// The report that the victim makes for strangers, while the job with its secrets runs.
func (a *attack) testReport(t *testing.T) {
	is := is.New(t)
	c := a.Stage.Command(t.Context(), a.Fulmen, "report", "--json")
	c.Env = append(c.Env, api.EnvHome+"="+a.Nodes[0].Home)
	got := end(t, c)
	is.Equal(got.status, 0)
	is.True(strings.Contains(got.out, string(a.job))) // the job is in it
	for _, secret := range []string{a.victim.User, "hunter2", "secret-", a.Work, "192.168.1.", "169.254."} {
		if at := strings.Index(got.out, secret); at >= 0 {
			t.Errorf("the report has %q: %q", secret, got.out[max(0, at-80):min(len(got.out), at+80)])
		}
	}
}

// What a rank prints for the terminal of whoever reads it, such as a text for their
// clipboard.
func (a *attack) testEscapes(t *testing.T) {
	is := is.New(t)
	keys, terminal, err := pty.Open()
	if err != nil {
		t.Skipf("there are no pseudo-terminals here: %v", err)
	}
	defer keys.Close()
	c := a.Command(t.Context(), a.Fulmen, "job", "logs", string(a.job))
	c.Env = append(c.Env, api.EnvHome+"="+a.Nodes[0].Home)
	c.Stdout = terminal
	must(t, "its output", errors.Join(c.Run(), terminal.Close()))
	shown, _ := io.ReadAll(keys) // EIO is its end
	is.True(strings.Contains(string(shown), secretOutput))
	is.True(strings.Contains(string(shown), `\x1b]52;`))
	is.True(!strings.Contains(string(shown), "\x1b"))
}

// A port of studio-2 on which another account's program listens, published by a job
// that does not listen there.
func (a *attack) testPort(t *testing.T) {
	is := is.New(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, "another program's port", err)
	defer l.Close()
	reached := make(chan struct{})
	go func() {
		if conn, err := l.Accept(); err == nil {
			conn.Close()
			close(reached)
		}
	}()
	port := l.Addr().(*net.TCPAddr).Port
	id := a.submits(t, api.JobSubmitParams{Request: api.JobRequest{
		Program:   api.Program{Command: []string{"/bin/sleep", "1000"}, Directory: a.Work, Home: a.Account.Home, Stdin: api.StdinNone},
		Placement: api.Placement{Ranks: 1, Nodes: []api.NodeID{a.Nodes[1].ID}}, Publish: []api.Publish{{Port: port}}, Detached: true,
	}})
	_, ranks := a.runs(t, id)
	is.Equal(len(ranks[0].Ports), 0) // it is not the job's
	home, err := a.network.Stolen(a.Nodes[0].Home, a.cluster)
	must(t, "the key of studio-1", err)
	conn, err := home.Stream(t.Context(), a.Nodes[1].ID, api.PeerConn{Carries: api.ConnPublish, Rank: api.RankRef{Job: id, Attempt: 1}, Port: port})
	must(t, "a connection", err)
	defer conn.Close()
	must(t, "a deadline", conn.SetReadDeadline(time.Now().Add(soon)))
	var reported [1]byte
	_, err = io.ReadFull(conn, reported[:])
	is.NoErr(err)
	is.Equal(string(reported[:]), "r") // refused
	select {
	case <-reached:
		t.Error("the other account's program was reached")
	default:
	}
	call[api.Empty](t, a.clients.victim, "job.stop", api.JobStopParams{Job: id, Kill: true})
	(&jobs{a.stage, a.Cluster}).until(t, a.Nodes[0], id, "end", after, hasEnded)
}

// Numbers of the member's own that no Mac has.
func (a *attack) testNumbers(t *testing.T) {
	is := is.New(t)
	for _, text := range []string{
		`{"total_bytes":9223372036854775807,"used_bytes":-9223372036854775807,"gpu_working_set_bytes":9223372036854775807}`,
		`{"total_bytes":-1}`, `{"used_bytes":1e300}`,
	} {
		doc, err := a.m.Signs(api.KindMemory, "", json.RawMessage(text))
		must(t, "a document", err)
		refused, err := a.m.Puts(t.Context(), a.Nodes[0].ID, doc)
		if err == nil && len(refused) == 0 {
			held := call[api.StateGetResult](t, a.Nodes[0].Client, "state.get", api.StateSelect{Kinds: []api.Kind{api.KindMemory}}).Docs
			if slices.ContainsFunc(held, func(d api.Document) bool { return d.Node == a.m.Node && string(d.Value) == text }) {
				t.Errorf("%s was taken", text)
			}
		}
	}
	for _, args := range [][]string{{"status"}, {"nodes"}} {
		got := end(t, a.Nodes[0].Command(t.Context(), a.Fulmen, args...))
		is.True(!strings.Contains(got.out, "-8.00 EiB") && !strings.Contains(got.out, "8.00 EiB"))
	}
}

// The victim's one-time link to the dashboard, in the hands of another account, which
// shows it over connections of its own.
func (a *attack) testLink(t *testing.T) {
	is := is.New(t)
	link := call[api.DaemonBrowserSecretResult](t, a.clients.victim, "daemon.browser_secret", nil)
	url, secret, found := strings.Cut(link.URL, "#secret=")
	is.True(found)
	redeem := func(uid int) (answer struct {
		Result api.DaemonCreateTokenResult `json:"result"`
		Error  *struct {
			Data api.ErrorData `json:"data"`
		} `json:"error"`
	}) {
		dial := func(_ context.Context, _, address string) (net.Conn, error) {
			return nativetest.DialAs(t, uid, address), nil
		}
		api := call[api.DaemonInfoResult](t, a.clients.victim, "daemon.info", nil).APIURL
		ws, _, err := websocket.Dial(t.Context(), api, &websocket.DialOptions{HTTPClient: &http.Client{Transport: &http.Transport{DialContext: dial}}})
		must(t, "the local API "+url, err)
		defer ws.CloseNow()
		must(t, "the secret", ws.Write(t.Context(), websocket.MessageText, []byte(`{"jsonrpc":"2.0","id":1,"method":"daemon.redeem_secret","params":{"secret":"`+secret+`"}}`)))
		_, text, err := ws.Read(t.Context())
		must(t, "an answer", err)
		must(t, "an answer", json.Unmarshal(text, &answer))
		return answer
	}
	stolen := redeem(other)
	is.True(stolen.Error != nil)
	is.Equal(stolen.Error.Data.Reason, api.ReasonOtherAccount)
	is.Equal(stolen.Result.Token, "")
	// Nor by the Unix socket; and the victim still can.
	_, err := client.Call[api.DaemonCreateTokenResult](t.Context(), a.clients.other, "daemon.redeem_secret", api.DaemonRedeemSecretParams{Secret: secret})
	is.True(errors.Is(err, api.ReasonOtherAccount))
	is.True(redeem(int(a.Account.UID)).Result.Token != "")
}
