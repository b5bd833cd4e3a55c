package replica

import (
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"github.com/matryer/is"

	"fulmen/daemon/api"
	"fulmen/native/nativetest/testkit"
)

var histories = flag.Int("seeds", 12, "how many random histories the model test plays")

// model is what each node has acknowledged and not lost: its facts since it
// started, and what is on its disk.
type model struct {
	*scenario
	rand     *rand.Rand
	want     []map[api.Key]string
	disks    []*disk // as they once were
	n        int
	reported []string
}

// After any history of writes, deletions, cuts, losses and restarts, nodes that
// are connected again agree, and hold what each writer has acknowledged.
func TestModel(t *testing.T) {
	all := *histories
	if testing.Short() {
		all /= 3
	}
	for seed := range testkit.Upto(t, all) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				random := seed.Source(7)
				m := &model{scenario: newScenario(t, 3+random.IntN(6)), rand: random}
				defer m.close()
				defer func() {
					if t.Failed() {
						t.Log(m.reported)
					}
				}()
				m.want, m.disks = make([]map[api.Key]string, len(m.nodes)), make([]*disk, len(m.nodes))
				for i := range m.nodes {
					m.learn(i)
					m.disks[i] = m.nodes[i].disk.copied()
				}
				m.lossy(float64(random.IntN(4)) / 100)
				for range 60 {
					m.step()
					m.wait(time.Duration(random.IntN(400)) * time.Millisecond)
				}
				m.lossy(0)
				m.connect()
				// Ghosts have 30 s, and the last of them is met with a digest.
				m.wait(3 * time.Minute)
				m.check(is.New(t))
			})
		})
	}
}

func (m *model) report(format string, args ...any) {
	m.reported = append(m.reported, fmt.Sprintf(format, args...))
}

// learn takes what a node says of itself for what it has acknowledged.
func (m *model) learn(i int) { m.want[i] = m.own(i, m.nodes[i]) }

// own are the values of a node as another holds them, without deletions.
func (m *model) own(i int, at *member) map[api.Key]string {
	all := map[api.Key]string{}
	for key := range at.view() {
		if key.Node == m.nodes[i].identity.Node {
			if value := at.value(m.nodes[i], key.Kind, key.Name); value != "" {
				all[key] = value
			}
		}
	}
	return all
}

func (m *model) step() {
	i, j := m.rand.IntN(len(m.nodes)), m.rand.IntN(len(m.nodes))
	switch p := m.rand.IntN(100); {
	case p < 40:
		m.write(i)
	case p < 50:
		m.delete(i)
	case p < 75:
		m.report("join %d %d", i, j)
		m.join(i, j)
	case p < 85:
		m.report("cut %d %d", i, j)
		m.cut(i, j)
	case p < 90:
		if i != j && m.isJoined(i, j) {
			m.report("silence %d %d", i, j)
			m.silence(i, j)
			m.wait(time.Duration(m.rand.IntN(6000)) * time.Millisecond)
			m.notice(i, j)
		}
	case p < 92:
		m.report("copy the disk of %d", i)
		m.disks[i] = m.nodes[i].disk.copied()
	default:
		m.restart(i)
	}
}

// key is one of a few of each kind, so that they are written again.
func (m *model) key(i int) api.Key {
	names := []struct {
		kind api.Kind
		name string
	}{{api.KindThunderbolt, "1"}, {api.KindThunderbolt, "2"}, {api.KindThunderbolt, "3"}, {api.KindSharing, ""},
		{api.KindJob, "j0000000a"}, {api.KindJob, "j0000000b"}, {"from-the-future", "x"}}
	one := names[m.rand.IntN(len(names))]
	return api.Key{Node: m.nodes[i].identity.Node, Kind: one.kind, Name: one.name}
}

func (m *model) write(i int) {
	key := m.key(i)
	m.n++
	m.report("%d writes %s %s %d", i, key.Kind, key.Name, m.n)
	m.nodes[i].put(key.Kind, key.Name, m.n)
	m.want[i][key] = fmt.Sprintf(`{"n":%d}`, m.n)
}

func (m *model) delete(i int) {
	key := m.key(i)
	m.report("%d deletes %s %s", i, key.Kind, key.Name)
	if err := m.nodes[i].writer.Delete(key.Kind, key.Name); err != nil {
		m.t.Fatal(err)
	}
	delete(m.want[i], key)
}

// restart ends a node and starts it: as it was, with nothing, or with the disk
// and the clock of some time ago.
func (m *model) restart(i int) {
	m.kill(i)
	how := m.rand.IntN(6)
	m.report("restart %d way %d", i, how)
	switch how {
	case 0:
		m.nodes[i].disk = newDisk()
	case 1:
		m.nodes[i].disk = m.disks[i].copied()
	case 2:
		m.nodes[i].back = time.Duration(m.rand.IntN(800)) * 24 * time.Hour
	}
	m.wait(time.Duration(m.rand.IntN(2000)) * time.Millisecond)
	m.nodes[i].start()
	m.learn(i)
}

// connect joins all nodes, sometimes no more than they need.
func (m *model) connect() {
	if m.rand.IntN(2) == 0 {
		m.joinAll()
		return
	}
	for i := 1; i < len(m.nodes); i++ {
		m.join(i, m.rand.IntN(i))
	}
}

func (m *model) check(is *is.I) {
	m.t.Helper()
	if problem := m.disagreement(); problem != "" {
		m.t.Fatal(problem)
	}
	for i := range m.nodes {
		for _, at := range m.nodes {
			if got := m.own(i, at); !maps.Equal(got, m.want[i]) {
				m.t.Fatalf("%d has %v, not %v", i, got, m.want[i])
			}
		}
	}
}
