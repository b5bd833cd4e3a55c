package pairing

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/cluster"
)

// maxName bounds what people read, in bytes.
const maxName = 128

// Card is what a Mac says of itself once both have proved the code.
type Card struct {
	// Name is the friendly name.
	Name string `json:"name"`
	// ShortName is its slug, which the other Mac may have to make unique.
	ShortName string `json:"short_name"`
	// ModelName is what people call the model.
	ModelName string `json:"model_name,omitempty"`
	// Version is the version of Fulmen.
	Version string `json:"version"`
	// Cluster is the one that the Mac belongs to.
	Cluster api.ClusterID `json:"cluster"`
	// IsMember says that the cluster is of more than this Mac.
	IsMember bool `json:"is_member,omitempty"`
	// Leaves says that a person lets it leave that cluster.
	Leaves bool `json:"leaves,omitempty"`
}

// clean is the card as it is sent: whatever a person called the Mac, the other
// side can read it.
func (c Card) clean() Card {
	c.Name, c.ModelName, c.Version = plain(c.Name), plain(c.ModelName), plain(c.Version)
	return c
}

func (c *Card) isValid() bool {
	return *c == c.clean() && c.Cluster.Valid() && isShortName(c.ShortName)
}

// isShortName reports whether a name is its own slug.
func isShortName(s string) bool { return s != "" && cluster.ShortName(s, "") == s }

// mayJoin says why the Mac of one card cannot join that of the other; empty
// where it can. Both sides find the same.
func mayJoin(joiner, admitter Card) api.Reason {
	if joiner.IsMember && !joiner.Leaves && joiner.Cluster != admitter.Cluster {
		return api.ReasonMemberOfAnotherCluster
	}
	return ""
}

// plain is text that shows as what it is: printable characters and single lines,
// at most maxName bytes. What reverses or joins other characters is left out.
func plain(s string) string {
	s = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case unicode.IsPrint(r) && r != utf8.RuneError:
			return r
		}
		return -1
	}, s)
	for s = strings.TrimSpace(s); len(s) > maxName; {
		_, size := utf8.DecodeLastRuneInString(s)
		s = strings.TrimSpace(s[:len(s)-size])
	}
	return s
}
