namespace Net.Zlink.Conformance.Tests.Replay.Reading;

/// <summary>The file is not a transcript as the format's page defines it. The message says where and why.</summary>
internal sealed class TranscriptFormatException(string message) : Exception(message);

/// <summary>The file is in order but asks for something that the replayer or its adapters can't do. The message says what.</summary>
/// <param name="missing">What.</param>
/// <param name="isPlanned">It is about something that the library as a whole has not got yet, so the file is skipped; anything else that is missing fails.</param>
internal sealed class NotSupportedYetException(string missing, bool isPlanned = false) : Exception("not supported yet: " + missing)
{
    public bool IsPlanned { get; } = isPlanned;
}
