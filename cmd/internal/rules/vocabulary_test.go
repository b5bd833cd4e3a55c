package rules

import "testing"

func TestVocabulary(t *testing.T) {
	tests := []struct {
		text string
		bad  bool
	}{
		{"https://" + hosts[0][0] + hosts[0][1] + "/simple", true},
		{"HTTPS://" + "CRATES" + ".IO", true},
		{"from PyPI, by pip's own configuration", false},
		{"pip download --index-url https://mirror.example/simple x==1", true},
		{"pip download --no-index --find-links build", false},
		{"cd /work/main && make", true},
		{"ls (/root/.cache)", true},
		{"the tree's root/ folder, network/ and frame/work/ are fine", false},
		{"runner/work/x", false},
		{`"cwd":"/Users/ada/train.py"`, false},
		{`"cwd":"/Users/steve/train.py"`, true},
		{"HOME=/home/jane", true},
		{"HOME=/home/user/x", false},
		{"as issue 12 says", true},
		{"see issue #7", true},
		{"Issues 3 and 4", true},
		{"the issuer of a certificate; an issue with cables", false},
		{"on the D-Bus session bus; its own session; sessionStorage; TLS session tickets", false},
		{"written in a coding session", true},
		{"the helper agent did", true},
		{"a privileged helper tool and the launch agent", false},
		{"shared/DESIGN.md says", true},
		{"a shared/memory segment", false},
		{"Co-Authored-By: x", true},
		{"written by ChatGPT", true},
	}
	for _, tt := range tests {
		var want []string
		if tt.bad {
			want = []string{"docs/x.md:2"}
		}
		runCases(t, []checkCase{{tt.text, checkVocabulary, map[string]string{
			"docs/x.md": "# Title\n" + tt.text + "\n", "go.sum": tt.text, "icon.png": "\x00" + tt.text,
		}, want}})
	}
}
