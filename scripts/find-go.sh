# Puts Go last on PATH when it is where its archive is usually unpacked and not on PATH. To be sourced.

go_folder=${GOROOT:-/usr/local/go}/bin
if ! command -v go >/dev/null && [ -x "$go_folder/go" ]; then
  PATH=$PATH:$go_folder
  export PATH
fi
