{{/* Names and labels. */}}

{{- define "netfacts.fullname" -}}
{{- $name := default .Chart.Name .Values.nameOverride -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride -}}
{{- else if contains $name .Release.Name -}}
{{- .Release.Name | trunc 36 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name $name | trunc 36 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{/* The services: their section of the values, and the name by which image, NATS and metrics know them. */}}
{{- define "netfacts.services" -}}
gateway: gateway-auth-quota
ipRouting: ip-routing
asnPrefix: asn-prefix
rdnsResolver: rdns-resolver
ingest: ingest
{{- end -}}

{{/* Labels that select pods. Give root and component; without component, all pods of the release. */}}
{{- define "netfacts.selector" -}}
app.kubernetes.io/name: {{ default .root.Chart.Name .root.Values.nameOverride | quote }}
app.kubernetes.io/instance: {{ .root.Release.Name | quote }}
{{- with .component }}
app.kubernetes.io/component: {{ . }}
{{- end }}
{{- end -}}

{{/* The selector of these pods on one line. */}}
{{- define "netfacts.match" -}}
{{ dict "matchLabels" (include "netfacts.selector" . | fromYaml) | toJson }}
{{- end -}}

{{/* Labels of pods: without the chart's version, a change of which restarts nothing. */}}
{{- define "netfacts.podLabels" -}}
{{ include "netfacts.selector" . }}
app.kubernetes.io/part-of: netfacts
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
{{- with .root.Values.commonLabels }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{- define "netfacts.labels" -}}
{{ include "netfacts.podLabels" . }}
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .root.Chart.Name .root.Chart.Version | replace "+" "_" }}
{{- end -}}

{{- define "netfacts.image" -}}
{{- $repository := .Values.image.repository -}}
{{- with .Values.global.imageRegistry -}}{{- $repository = printf "%s/%s" (trimSuffix "/" .) $repository -}}{{- end -}}
{{- if .Values.image.digest -}}
{{- printf "%s@%s" $repository .Values.image.digest -}}
{{- else -}}
{{- printf "%s:%s" $repository (default .Chart.AppVersion .Values.image.tag) -}}
{{- end -}}
{{- end -}}

{{/* The ConfigMap that has the list of sources; empty: it is a file of the image. */}}
{{- define "netfacts.sourcesMap" -}}
{{- if .Values.ingest.sources.content -}}{{ include "netfacts.fullname" . }}-sources{{- else -}}{{ default "" .Values.ingest.sources.existingConfigMap }}{{- end -}}
{{- end -}}

{{/* Where the list of sources is. */}}
{{- define "netfacts.sourcesPath" -}}
{{- if include "netfacts.sourcesMap" . -}}/sources/sources.yaml{{- else -}}{{ .Values.ingest.sources.path }}{{- end -}}
{{- end -}}
