namespace Net.Zlink.Conformance.Tests.Replay.Reading;

/// <summary>The file is not a transcript as the format's page defines it. The message says where and why.</summary>
internal sealed class TranscriptFormatException(string message) : Exception(message);

/// <summary>The file is in order but asks for something that the replayer or its adapters can't do. The message says what.</summary>
internal sealed class NotSupportedYetException(string missing) : Exception("not supported yet: " + missing);
