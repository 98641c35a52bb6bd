# frozen_string_literal: true

module Go
  # Turns one model object into the structure of the JSON answer. A presenter
  # lives for one request and holds no state of its own.
  class Presenter
    include UrlHelper

    class << self
      # attributes :name, :counter  =>  the fields taken over as they are
      def attributes(*names)
        @attributes = names.freeze
      end

      def attribute_names
        @attributes || [].freeze
      end

      def present_all(models, *context)
        models.map { |model| new(model, *context).to_h }
      end
    end

    attr_reader :model

    def initialize(model)
      @model = model
    end

    def to_h
      fields = self.class.attribute_names.to_h { |name| [name, model.public_send(name)] }
      fields.merge!(details)
    end

    private

    def details
      {}
    end

    def timestamp(time)
      time && { iso: time.strftime('%Y-%m-%dT%H:%M:%SZ'), epoch: time.to_i, ago: Clock.ago(time) }
    end
  end
end
