using System.ComponentModel;
using System.Globalization;
using System.Text.Json;
using System.Text.Json.Serialization;

namespace Net.Zlink;

internal sealed class RoutingIdJsonConverter : JsonConverter<RoutingId>
{
    public override RoutingId Read(ref Utf8JsonReader reader, Type typeToConvert, JsonSerializerOptions options) =>
        Parse(reader.GetString());

    public override RoutingId ReadAsPropertyName(ref Utf8JsonReader reader, Type typeToConvert, JsonSerializerOptions options) =>
        Parse(reader.GetString());

    public override void Write(Utf8JsonWriter writer, RoutingId value, JsonSerializerOptions options) =>
        writer.WriteStringValue(value.ToString());

    public override void WriteAsPropertyName(Utf8JsonWriter writer, RoutingId value, JsonSerializerOptions options) =>
        writer.WritePropertyName(value.ToString());

    private static RoutingId Parse(string? text) => RoutingId.TryParse(text, CultureInfo.InvariantCulture, out RoutingId id) ? id
        : throw new JsonException($"\"{text}\" is not a routing id.");
}

internal sealed class RoutingIdTypeConverter : TypeConverter
{
    public override bool CanConvertFrom(ITypeDescriptorContext? context, Type sourceType) => sourceType == typeof(string)
        || base.CanConvertFrom(context, sourceType);

    public override object? ConvertFrom(ITypeDescriptorContext? context, CultureInfo? culture, object value) =>
        value is string text ? RoutingId.Parse(text, culture) : base.ConvertFrom(context, culture, value);
}
