# frozen_string_literal: true

module Go
  # The fields of one object in a form: names, ids, labels and values follow from
  # the object's name, its position in a collection and the attribute.
  class FormBuilder
    attr_reader :object

    def initialize(view, object, prefix, index: nil, texts: prefix)
      @view = view
      @object = object
      @prefix = index ? "#{prefix}[#{index}]" : prefix
      @texts = texts
    end

    # The same for an object inside of this one: stage[jobs][0]...
    def fields_for(attribute, object, index:, texts: attribute.to_s)
      yield FormBuilder.new(@view, object, "#{@prefix}[#{attribute}]", index: index, texts: texts)
    end

    def label(attribute, required: false)
      text = @view.t(attribute, scope: @texts)
      star = required ? @view.content_tag(:span, '*', class: 'asterisk') : nil
      @view.content_tag(:label, @view.safe_join([text, star].compact), for: id(attribute))
    end

    def text_field(attribute, value: object.public_send(attribute), **attributes)
      input('text', attribute, value, class: 'form_input', **attributes)
    end

    def password_field(attribute, value:, **attributes)
      input('password', attribute, value, class: 'form_input', readonly: true, **attributes)
    end

    # The hidden field says "no" when the box is not ticked.
    def check_box(attribute)
      off = @view.tag(:input, type: 'hidden', name: name(attribute), value: '0')
      off << @view.tag(:input, type: 'checkbox', name: name(attribute), id: id(attribute), value: '1',
                               checked: object.public_send(attribute))
    end

    def radio_button(attribute, choice)
      @view.tag(:input, type: 'radio', name: name(attribute), id: "#{id(attribute)}_#{choice}", value: choice,
                        checked: object.public_send(attribute) == choice)
    end

    def select(attribute, choices)
      current = object.public_send(attribute)
      options = choices.map { |choice| @view.content_tag(:option, choice.capitalize, value: choice, selected: choice == current) }
      @view.content_tag(:select, @view.safe_join(options), name: name(attribute), id: id(attribute))
    end

    private

    def input(type, attribute, value, **attributes)
      @view.tag(:input, type: type, name: name(attribute), id: id(attribute), value: value, **attributes)
    end

    def name(attribute)
      "#{@prefix}[#{attribute}]"
    end

    def id(attribute)
      name(attribute).gsub(/\]\[|\[|\]/, '_').chomp('_')
    end
  end
end
