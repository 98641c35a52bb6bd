# frozen_string_literal: true

module Go
  # One commit.
  class Modification
    attr_reader :revision, :author, :email, :comment, :modified_at, :files

    def initialize(revision:, author:, email:, comment:, modified_at:, files:)
      @revision = revision
      @author = author
      @email = email
      @comment = comment
      @modified_at = modified_at
      @files = files.freeze
      freeze
    end

    def user
      "#{author} <#{email}>"
    end
  end
end
