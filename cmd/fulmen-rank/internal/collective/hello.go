package collective

import (
	"bytes"
	"encoding/binary"
	"os"

	"fulmen/daemon/api/worker"
	"fulmen/mlxbridge"
)

// cardBytes is the size of what a rank tells of itself: its process id in 4
// bytes, then its host's name, cut or padded with zeros.
const cardBytes = 4 + 60

// Hello tells every rank who is in the group.
func (g *Group) Hello(backend string) (worker.Hello, error) {
	result := worker.Hello{Backend: backend, Rank: g.Rank(), Size: g.Size()}
	host, err := os.Hostname()
	if err != nil {
		return result, err
	}
	scope := mlxbridge.NewScope(g.stream)
	defer scope.Close()
	mine, err := mlxbridge.FromSlice(scope, card(host, os.Getpid()), []int{1, cardBytes})
	if err != nil {
		return result, err
	}
	all, err := scope.AllGather(g.group, mine)
	if err != nil {
		return result, err
	}
	cards, err := mlxbridge.ToSlice[uint8](all)
	if err != nil {
		return result, err
	}
	for rank := range g.Size() {
		result.Ranks = append(result.Ranks, member(rank, cards[rank*cardBytes:(rank+1)*cardBytes]))
	}
	return result, g.barrier()
}

// card is what a rank tells of itself.
func card(host string, pid int) []byte {
	text := make([]byte, cardBytes)
	binary.BigEndian.PutUint32(text, uint32(pid))
	copy(text[4:], host)
	return text
}

// member reads a card.
func member(rank int, card []byte) worker.Member {
	host, _, _ := bytes.Cut(card[4:], []byte{0})
	return worker.Member{Rank: rank, Host: string(bytes.ToValidUTF8(host, nil)), PID: int(binary.BigEndian.Uint32(card))}
}
