package demo

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"fulmen/daemon/api"
	"fulmen/daemon/client/clienttest"
)

// mode is the variable that makes this test program fulmend; its value is what
// is wrong with it.
const mode = "FULMEN_DEMO_STUB"

// lends is the variable with the account as which stubs are to lend.
const lends = "FULMEN_DEMO_LENDS"

func TestMain(m *testing.M) {
	if os.Getenv(mode) == "" {
		os.Exit(m.Run())
	}
	if os.Args[1] == "world" {
		os.Exit(stubWorld())
	}
	os.Exit(stubDaemon())
}

// shared is what the stubs' cluster consists of: they all hold it, and the world
// passes on what one changes.
type shared struct {
	// Code is the one that the first Mac shows.
	Code string `json:"code"`
	// Members are those who joined.
	Members []api.NodeID `json:"members"`
}

// with is the state after a change: another code, or a new member.
func (s shared) with(change shared) shared {
	if change.Code != "" {
		s.Code = change.Code
	}
	s.Members = append(slices.Clone(s.Members), change.Members...)
	return s
}

// ids are the ids of the stubs' Macs.
func ids() map[string]api.NodeID {
	return map[string]api.NodeID{"a": "csm7nbfrcayqev4e", "b": "axwfk1even66ca3j", "c": "9dw0ceww496t64df"}
}

// stubWorld hosts the shared state: each message changes it, and it goes to all.
func stubWorld() int {
	if os.Getenv(mode) == "no-world" {
		fmt.Fprintln(os.Stderr, "fulmend: there is no scenario "+os.Args[3])
		return 2
	}
	listener, err := net.Listen("unix", os.Args[5])
	if err != nil {
		return 1
	}
	var mu sync.Mutex
	last := shared{Members: []api.NodeID{ids()["a"]}}
	all := map[*json.Encoder]bool{}
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go func() {
				out, in := json.NewEncoder(conn), json.NewDecoder(conn)
				mu.Lock()
				all[out] = true
				out.Encode(last)
				mu.Unlock()
				for {
					var s shared
					if in.Decode(&s) != nil {
						return
					}
					mu.Lock()
					last = last.with(s)
					for each := range all {
						each.Encode(last)
					}
					mu.Unlock()
				}
			}()
		}
	}()
	fmt.Println(`{"macs": ["a", "b", "c"]}`)
	io.Copy(io.Discard, os.Stdin) // until the one that started it is gone
	return 0
}

// stub is a daemon of the stubs' cluster.
type stub struct {
	*clienttest.Daemon
	mac   string
	id    api.NodeID
	world *json.Encoder

	mu    sync.Mutex
	have  shared
	codes int
	late  int // how often joining is refused as too early
}

func stubDaemon() int {
	_, mac, _ := strings.Cut(os.Args[3], ":")
	if os.Getenv(mode) == "no-"+mac {
		fmt.Fprintln(os.Stderr, "fulmend: the disk is full")
		return 1
	}
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, syscall.SIGTERM)
	if os.Getenv(mode) == "stubborn-"+mac {
		signal.Ignore(syscall.SIGTERM)
	}
	conn, err := net.Dial("unix", os.Args[5])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	s := &stub{mac: mac, id: ids()[mac], world: json.NewEncoder(conn), late: 1}
	if s.Daemon, err = clienttest.Start(os.Getenv(api.EnvHome)); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	s.answers()
	s.jobs()
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		in := json.NewDecoder(conn)
		for {
			var now shared
			if in.Decode(&now) != nil {
				return
			}
			s.learn(now)
		}
	}()
	os.WriteFile(filepath.Join(os.Getenv(api.EnvHome), "pid"), []byte(fmt.Sprint(os.Getpid())), 0o600)
	fmt.Fprintln(os.Stderr, "level=INFO msg=ready")
	select {
	case <-stop:
	case <-gone:
	}
	return 0
}

func (s *stub) answers() {
	s.Always("daemon.info", api.DaemonInfoResult{Node: s.id, Cluster: "1627a5fa4a54af2e098cf3ca6dfb55b5"})
	s.Set("cluster.pair", func(json.RawMessage) (any, error) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.codes++
		code := fmt.Sprintf("CODE-%04d", s.codes)
		return api.ClusterPairResult{Code: code, TriesLeft: 3}, s.world.Encode(shared{Code: code})
	})
	s.Set("cluster.join", func(raw json.RawMessage) (any, error) {
		var p api.ClusterJoinParams
		if err := json.Unmarshal(raw, &p); err != nil {
			return nil, err
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		switch s.late--; {
		case s.late >= 0:
			return nil, api.NewError(api.ReasonPairingNotOpen, "")
		case os.Getenv(mode) == "deaf-"+s.mac:
			return nil, api.NewError(api.ReasonNoPath, "")
		case p.Code != s.have.Code: // it has not heard of it yet
			return nil, api.NewError(api.ReasonPairingNotOpen, "")
		case p.Node != ids()["a"] || p.Account != os.Getenv(lends):
			return nil, api.NewError(api.ReasonWrongCode, "")
		}
		return api.ClusterJoinResult{Cluster: "1627a5fa4a54af2e098cf3ca6dfb55b5", Members: []api.Member{}}, s.world.Encode(shared{Members: []api.NodeID{s.id}})
	})
}

// jobs is a job that runs until it is killed, and what is lent.
func (s *stub) jobs() {
	note := func(raw json.RawMessage) (any, error) {
		file, err := os.OpenFile(filepath.Join(os.Getenv(api.EnvHome), "lent"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		if err != nil {
			return nil, err
		}
		_, err = fmt.Fprintf(file, "%s\n", raw)
		return api.Empty{}, errors.Join(err, file.Close())
	}
	s.Set("cluster.map_user", note)
	s.Set("cluster.set_sharing", note)
	killed := make(chan struct{})
	s.Always("job.list", api.JobListResult{Jobs: []api.JobSummary{{Job: "j4k2m9xq7", Principal: api.Principal{User: "ada", Node: s.id}}}})
	s.Set("job.stop", func(raw json.RawMessage) (any, error) {
		var p api.JobStopParams
		if err := json.Unmarshal(raw, &p); err != nil || p.Job != "j4k2m9xq7" || !p.Kill {
			return nil, errors.New("not that")
		}
		close(killed)
		return api.Empty{}, nil
	})
	s.SetStream("job.watch", func(json.RawMessage) (any, func(func(any) error), error) {
		first := api.JobGetResult{Job: api.Document{Node: s.id, Kind: api.KindJob, Name: "j4k2m9xq7", Inc: 1, Seq: 1, Value: json.RawMessage(`{}`)}}
		return api.JobWatchResult{Sub: "s1", JobGetResult: first}, func(notify func(any) error) {
			<-killed
			if os.WriteFile(filepath.Join(os.Getenv(api.EnvHome), "killed"), nil, 0o600) == nil {
				_ = notify(api.JobChanged{Sub: "s1", N: 1, Terminal: true}) // the client may be gone
			}
		}, nil
	})
}

// learn takes the cluster's state over.
func (s *stub) learn(now shared) {
	s.mu.Lock()
	s.have = now
	s.mu.Unlock()
	var list api.NodeListResult
	for _, id := range now.Members {
		path := api.PathView{Address: api.PeerAddress{Peer: id}, Interface: "en5", Kind: api.LinkTB5, State: api.PathActive}
		if err := path.Address.UnmarshalText([]byte(string(id) + "/10.0.0.1")); err != nil {
			panic(err)
		}
		v := api.NodeView{Node: id, Self: id == s.id, Liveness: api.LivenessAlive, Since: api.TimeOf(time.Unix(1e9, 0))}
		if !v.Self {
			v.Paths = []api.PathView{path}
		}
		list.Nodes = append(list.Nodes, v)
		for _, kind := range sharedKinds() {
			if os.Getenv(mode) == "blind-"+s.mac && kind == api.KindMemory && id != s.id {
				continue
			}
			s.Put(api.Document{Node: id, Kind: kind, Inc: 1, Seq: 1, At: v.Since, Value: json.RawMessage(`{}`)})
		}
	}
	s.Always("node.list", list)
}
