# frozen_string_literal: true

module Go
  # A string that is known to be HTML. Anything else is escaped when a template
  # inserts it, so a forgotten `h` is never an injection.
  class SafeString < String
    # Templates call to_s on whatever they insert: it must stay safe.
    def to_s
      self
    end

    # Appends escaped, whereas << appends as it is (for the template's own text).
    def append(value)
      self << (value.is_a?(SafeString) ? value : CGI.escapeHTML(value.to_s))
    end
  end
end
