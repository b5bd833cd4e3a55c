package prepare

import "strings"

// rule says whose value of a variable a rank gets.
type rule string

const (
	// never takes the submitter's value: the node's own, or none.
	never rule = "never"
	// prefer takes the node's own value where it has one, and the submitter's otherwise.
	prefer rule = "prefer"
)

// variable is what the node decides: variables by their names, or all that begin with what
// is before a * at the end.
type variable struct {
	names string
	// rule is whose value counts.
	rule rule
	// why is the reason, as the end of a sentence that begins with "it".
	why string
}

// nodeLocal lists the variables that belong to a node. All others are the submitter's.
func nodeLocal() []variable {
	return []variable{
		{"PATH", never, "says where the node's programs are"},
		{"HOME", never, "is the account's folder"},
		{"USER LOGNAME", never, "names the account"},
		{"SHELL", never, "is the account's shell"},
		{"PWD OLDPWD", never, "follows from the directory"},
		{"TMPDIR TMP TEMP", never, "is the account's folder for temporary files"},
		{"VIRTUAL_ENV VIRTUAL_ENV_PROMPT CONDA_PREFIX CONDA_DEFAULT_ENV", never, "follows from the Python environment"},
		{"CONDA_* _CE_*", never, "says where the node's conda is"},
		{"PYTHONHOME", never, "would be the library of another interpreter"},
		{"PYTHONEXECUTABLE __PYVENV_LAUNCHER__", never, "would be another interpreter"},
		{"PYENV_ROOT PYENV_DIR", never, "says where the node's interpreters are"},
		{"XDG_RUNTIME_DIR", never, "is a folder of a login session on one node"},
		{"SSH_*", never, "belongs to a connection of one node"},
		{"XPC_*", never, "belongs to a service of one node"},
		{"__CF*", never, "belongs to an application of one node"},
		{"TERM_SESSION_ID", never, "belongs to a window of one node"},
		{"SECURITYSESSIONID LaunchInstanceID", never, "belongs to a login session of one node"},
		{"SHLVL", never, "counts shells"},
		{"_", never, "is the last command of a shell"},
		{"XDG_*", prefer, "says where the account keeps things"},
		{"HF_HOME HF_HUB_CACHE HF_XET_CACHE HF_ASSETS_CACHE", prefer, "says where the node keeps models"},
		{"HF_DATASETS_CACHE", prefer, "says where the node keeps data sets"},
		{"HF_TOKEN_PATH", prefer, "says where the account keeps its token"},
		{"HUGGINGFACE_HUB_CACHE TRANSFORMERS_CACHE TORCH_HOME", prefer, "says where the node keeps models"},
		{"UV_CACHE_DIR PIP_CACHE_DIR", prefer, "says where the node keeps packages"},
		{"PYTHONPYCACHEPREFIX", prefer, "says where the node keeps compiled modules"},
		{"HOMEBREW_*", prefer, "says where the node's programs are"},
		{"http_proxy https_proxy no_proxy HTTP_PROXY HTTPS_PROXY NO_PROXY", prefer, "is the way from the node to the internet"},
	}
}

// lookupVariable finds a variable among those; the first that fits counts. Without one it
// is the submitter's.
func lookupVariable(name string) (variable, bool) {
	for _, row := range nodeLocal() {
		for one := range strings.FieldsSeq(row.names) {
			prefix, many := strings.CutSuffix(one, "*")
			if name == one || many && strings.HasPrefix(name, prefix) {
				return row, true
			}
		}
	}
	return variable{}, false
}
