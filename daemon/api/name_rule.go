package api

import "strings"

// MaxNameLength bounds the name of a document, in bytes.
const MaxNameLength = 256

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
	case NamePortNumber:
		_, err := ParsePortNumber(name)
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
