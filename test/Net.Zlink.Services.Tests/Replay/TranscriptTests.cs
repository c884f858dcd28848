using Xunit;

namespace Net.Zlink.Services.Tests.Replay;

/// <summary>The recorded connections of the native core, each played in every role that is ours. ZLINK_SERVICE_TRANSCRIPTS names another
/// folder.</summary>
public sealed class TranscriptTests
{
    private static readonly string Folder =
        Environment.GetEnvironmentVariable("ZLINK_SERVICE_TRANSCRIPTS") is { Length: > 0 } other ? other
            : Path.Combine(AppContext.BaseDirectory, "Transcripts");

    public static TheoryData<string> Files { get; } =
        [.. Directory.EnumerateFiles(Folder, "*.json").Select(static path => Path.GetFileName(path)).Order(StringComparer.Ordinal)];

    [Theory]
    [MemberData(nameof(Files))]
    public async Task A_recorded_connection_is_the_same_with_ours_in_each_role(string file)
    {
        ServiceTranscript transcript = ServiceTranscript.Read(Path.Combine(Folder, file));
        List<string> played = [];
        foreach (Role role in Role.All.Where(role => role.Plays(transcript)))
        {
            await role.PlayAsync(transcript);
            played.Add(role.Name);
        }

        TestContext.Current.TestOutputHelper?.WriteLine($"{file}: played as {string.Join("; ", played)}");
        Assert.True(played.Count > 0, $"{file} can be played in no role");
    }

    [Theory]
    [MemberData(nameof(Files))]
    public void A_recorded_message_is_the_same_after_it_was_decoded_and_encoded(string file)
    {
        ServiceTranscript transcript = ServiceTranscript.Read(Path.Combine(Folder, file));
        foreach (TranscriptRecord record in transcript.Data.Where(
            static record => record.MessageId is MessageIds.ServiceList or MessageIds.RegisterAck))
        {
            var frames = new Frames(record.Parts);
            Assert.Equal(record.Parts, Support.Encoding.Of(message =>
            {
                if (ServiceListHeader.TryRead(frames, out ServiceListHeader header))
                {
                    ServiceListWriter.Write(message, header, ServiceListReader.Read(frames, header).Values);
                }
                else
                {
                    Assert.True(RegistrationFrames.TryReadAck(frames, out byte status, out string error));
                    RegistrationFrames.WriteAck(message, status, frames[2], error);
                }
            }));
        }
    }
}
