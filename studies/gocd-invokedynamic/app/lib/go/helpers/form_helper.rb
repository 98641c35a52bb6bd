# frozen_string_literal: true

module Go
  module FormHelper
    def form_for(object, name, action:, method: 'put')
      builder = FormBuilder.new(self, object, name)
      concat(content_tag(:form, action: action, method: 'post', id: "#{name}_form", class: 'popup_form') do
        concat tag(:input, type: 'hidden', name: '_method', value: method)
        concat tag(:input, type: 'hidden', name: 'authenticity_token', value: form_token(action))
        yield builder
      end)
    end

    def form_item(hint: nil, &block)
      concat(content_tag(:div, class: css_class('form_item_block', 'with_hint' => !hint.nil?)) do
        concat capture(&block)
        concat content_tag(:p, hint, class: 'contextual_help') if hint
      end)
    end

    private

    # A token that depends on the form alone: a random one would make every
    # answer different.
    def form_token(action)
      Digest::SHA256.hexdigest("#{session_id}:#{action}")[0, 32]
    end
  end
end
