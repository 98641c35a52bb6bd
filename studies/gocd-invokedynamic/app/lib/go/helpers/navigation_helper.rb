# frozen_string_literal: true

module Go
  module NavigationHelper
    SECTIONS = %w[pipelines environments agents admin].freeze

    def main_navigation(current)
      items = SECTIONS.map do |section|
        content_tag(:li, link_to(t(section, scope: 'navigation'), go_path(section)),
                    class: css_class('menu-item', current: section == current))
      end
      content_tag(:ul, safe_join(items), class: 'tabs', id: 'main-navigation')
    end

    def breadcrumb(*steps)
      items = steps.map do |text, path|
        content_tag(:li, path ? link_to(text, path) : content_tag(:span, text, class: 'last'))
      end
      content_tag(:ul, safe_join(items, "\n"), class: 'entity_title')
    end
  end
end
