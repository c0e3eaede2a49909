{{- define "backing.fullname" -}}
{{- $name := default .Release.Name .Values.fullnameOverride | trunc 40 | trimSuffix "-" -}}
{{- if not (regexMatch "^[a-z]([-a-z0-9]*[a-z0-9])?$" $name) -}}
{{- fail (printf "\n\nall objects would have names that begin with %s, which Kubernetes refuses for a Service: set fullnameOverride to lower-case letters, digits and hyphens that begin with a letter, or choose such a name for the release\n" $name) -}}
{{- end -}}
{{- $name -}}
{{- end -}}

{{/* Labels that select the pods of a component. Give root and component. */}}
{{- define "backing.selector" -}}
app.kubernetes.io/name: {{ .root.Chart.Name }}
app.kubernetes.io/instance: {{ .root.Release.Name | quote }}
app.kubernetes.io/component: {{ .component }}
{{- end -}}

{{- define "backing.labels" -}}
{{ include "backing.selector" . }}
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .root.Chart.Name .root.Chart.Version | replace "+" "_" }}
{{- end -}}

{{- define "backing.image" -}}
{{- with .root.Values.global.imageRegistry }}{{ trimSuffix "/" . }}/{{ end }}{{ .image.repository }}:{{ .image.tag }}
{{- end -}}

{{/* What all pods have in common. Give root and uid. */}}
{{- define "backing.pod" -}}
automountServiceAccountToken: false
enableServiceLinks: false
{{- with .root.Values.global.imagePullSecrets }}
imagePullSecrets: {{- toYaml . | nindent 2 }}
{{- end }}
securityContext:
  runAsNonRoot: true
  runAsUser: {{ .uid }}
  runAsGroup: {{ .uid }}
  fsGroup: {{ .uid }}
  fsGroupChangePolicy: OnRootMismatch
  seccompProfile: { type: RuntimeDefault }
{{- end -}}

{{- define "backing.containerSecurity" -}}
readOnlyRootFilesystem: true
allowPrivilegeEscalation: false
capabilities: { drop: [ALL] }
{{- end -}}

{{/*
A random text for a key of a Secret: the one that is stored, else a new one. It begins with a letter, as nats-server takes other texts for numbers.
Give root, name and key.
*/}}
{{- define "backing.secretText" -}}
{{- $stored := lookup "v1" "Secret" .root.Release.Namespace .name -}}
{{- $text := index (default (dict) (default (dict) $stored).data) .key -}}
{{- if $text }}{{ b64dec $text }}{{ else }}p{{ randAlphaNum 39 }}{{ end -}}
{{- end -}}
