# frozen_string_literal: true

module Go
  module TranslationHelper
    def t(key, **options)
      ENGLISH.lookup(key, **options)
    end
  end
end
