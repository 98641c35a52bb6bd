# frozen_string_literal: true

module Go
  # Why an instance of a pipeline ran: the revisions it was built from.
  class BuildCause
    Revision = Struct.new(:material, :modifications, :changed) do
      def latest
        modifications.first
      end
    end

    attr_reader :approver, :revisions

    def initialize(revisions:, approver: nil)
      @revisions = revisions.each(&:freeze).freeze
      @approver = approver
      freeze
    end

    def forced?
      !approver.nil?
    end

    def first_changed
      revisions.find(&:changed) || revisions.first
    end

    def message_key
      return 'forced' if forced?

      first_changed.material.is_a?(DependencyMaterial) ? 'dependency' : 'changes'
    end

    def message_values
      { user: approver || first_changed.latest.author, pipeline: first_changed.material.name }
    end
  end
end
