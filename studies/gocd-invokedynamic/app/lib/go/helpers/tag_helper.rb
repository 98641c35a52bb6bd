# frozen_string_literal: true

module Go
  module TagHelper
    VOID_TAGS = %w[input link meta br].freeze
    BOOLEAN_ATTRIBUTES = %i[checked selected disabled readonly].freeze

    def content_tag(name, content = nil, **attributes, &block)
      content = capture(&block) if block
      html = SafeString.new("<#{name}")
      append_attributes(html, attributes)
      html << '>'
      html.append(content) unless content.nil?
      html << "</#{name}>"
    end

    def tag(name, **attributes)
      raise ArgumentError, "#{name} has an end tag" unless VOID_TAGS.include?(name.to_s)

      html = SafeString.new("<#{name}")
      append_attributes(html, attributes)
      html << '>'
    end

    def link_to(text, path, **attributes)
      content_tag(:a, text, href: path, **attributes)
    end

    def safe_join(parts, separator = '')
      parts.each_with_object(SafeString.new) do |part, html|
        html.append(separator) unless html.empty?
        html.append(part)
      end
    end

    def css_class(*names, **conditional)
      (names + conditional.select { |_, on| on }.keys).join(' ')
    end

    private

    def append_attributes(html, attributes)
      attributes.each do |name, value|
        next if value.nil? || value == false

        if BOOLEAN_ATTRIBUTES.include?(name)
          html << " #{name}"
        elsif value.is_a?(Hash)
          append_attributes(html, value.transform_keys { |key| :"#{name}-#{key}" })
        else
          html << ' ' << name.to_s.tr('_', '-') << '="' << CGI.escapeHTML(value.to_s) << '"'
        end
      end
    end
  end
end
