# frozen_string_literal: true

module Go
  # What the settings page of a stage needs beyond plain forms.
  module StageHelper
    TABS = %w[settings jobs environment_variables permissions].freeze

    def stage_tabs(pipeline, stage, current)
      items = TABS.map do |name|
        content_tag(:li, class: css_class(name, current: name == current)) do
          concat link_to(t(name, scope: 'tabs'), stage_settings_path(pipeline, stage, name), data: { tab: name })
        end
      end
      safe_join(items, "\n")
    end

    def task_row(task, number)
      cells = [number, task.type, content_tag(:code, task.describe), task.run_if.capitalize, task.on_cancel? ? 'Yes' : 'No']
      content_tag(:tr, safe_join(cells.map { |cell| content_tag(:td, cell) }), class: number.odd? ? 'odd' : 'even')
    end

    def artifact_row(artifact)
      cells = [artifact.type.capitalize, content_tag(:code, artifact.source), artifact.destination]
      content_tag(:tr, safe_join(cells.map { |cell| content_tag(:td, cell) }))
    end

    def table_head(*titles)
      content_tag(:thead, content_tag(:tr, safe_join(titles.map { |title| content_tag(:th, title) })))
    end

    def variable_field(fields, variable)
      if variable.secure?
        fields.password_field(:value, value: variable.display_value)
      else
        fields.text_field(:value, value: variable.display_value)
      end
    end
  end
end
