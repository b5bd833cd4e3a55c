package api

import "strings"

// MaxNameLength bounds the name of a document, in bytes.
const MaxNameLength = 256

// NameRule is how the documents of a kind are told apart on one node.
type NameRule string

const (
	// NameEmpty is a kind of which a node has one document; its name is empty.
	NameEmpty NameRule = "empty"
	// NameReceptacle is a receptacle number: `3`.
	NameReceptacle NameRule = "receptacle"
	// NamePeerAddress is a peer and its address: `ID/10.0.0.7`.
	NamePeerAddress NameRule = "peer_address"
	// NameLink is a cable: `ID:1~ID:3`.
	NameLink NameRule = "link"
	// NamePath is a peer's address (sockets) or a cable (RDMA).
	NamePath NameRule = "path"
	// NameJob is a job: `j4k2m9xq7`.
	NameJob NameRule = "job"
	// NameRank is a rank: `j4k2m9xq7/2/0`.
	NameRank NameRule = "rank"
	// NameHolder is who holds a grant: a rank, or a measurement `m4k2m9xq7`.
	NameHolder NameRule = "holder"
	// NameCondition is a reason, and after a slash what it is about: `link_too_slow/ID:1~ID:3`.
	NameCondition NameRule = "condition"
	// NameNode is a node id.
	NameNode NameRule = "node"
)

// Values lists the rules.
func (NameRule) Values() []string {
	return words(NameEmpty, NameReceptacle, NamePeerAddress, NameLink, NamePath, NameJob, NameRank, NameHolder,
		NameCondition, NameNode)
}

// Check refuses a name that breaks the rule. Names are canonical: one thing
// has one name.
func (r NameRule) Check(name string) error {
	text := []byte(name)
	switch r {
	case NameEmpty:
		if name != "" {
			return malformed("document name", name, "must be empty for this kind", "leave it out")
		}
		return nil
	case NameReceptacle:
		_, err := ParseReceptacle(name)
		return err
	case NamePeerAddress:
		return new(PeerAddress).UnmarshalText(text)
	case NameLink:
		return new(LinkID).UnmarshalText(text)
	case NamePath:
		if strings.Contains(name, "~") {
			return new(LinkID).UnmarshalText(text)
		}
		return new(PeerAddress).UnmarshalText(text)
	case NameJob:
		return new(JobID).UnmarshalText(text)
	case NameRank:
		return new(RankRef).UnmarshalText(text)
	case NameHolder:
		if strings.Contains(name, "/") {
			return new(RankRef).UnmarshalText(text)
		}
		return new(MeasureID).UnmarshalText(text)
	case NameCondition:
		return checkConditionName(name)
	case NameNode:
		return new(NodeID).UnmarshalText(text)
	}
	return malformed("name rule", string(r), "is not known", "use one of the listed rules")
}

func checkConditionName(name string) error {
	reason, subject, more := strings.Cut(name, "/")
	if !isSnakeCase(reason) || more && !isPlainName(subject) {
		return malformed("condition name", name, "is not reason or reason/subject", "write it as link_too_slow/SUBJECT")
	}
	return nil
}

// isSnakeCase reports whether s is a lower-case word or several joined by
// single underscores, beginning with a letter.
func isSnakeCase(s string) bool {
	if s == "" || len(s) > 64 || s[0] < 'a' || s[0] > 'z' || s[len(s)-1] == '_' || strings.Contains(s, "__") {
		return false
	}
	for i := range len(s) {
		if c := s[i]; (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '_' {
			return false
		}
	}
	return true
}

// isPlainName reports whether s is printable ASCII without spaces, quotes and
// backslashes, and not empty.
func isPlainName(s string) bool {
	if s == "" || len(s) > MaxNameLength {
		return false
	}
	for i := range len(s) {
		if c := s[i]; c <= ' ' || c > '~' || c == '"' || c == '\\' {
			return false
		}
	}
	return true
}
